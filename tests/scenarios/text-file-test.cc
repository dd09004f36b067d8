// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/text-file.h"

#include "refusal.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/yaml/yaml-node.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace weir
{
namespace
{

/** Writes @p bytes to a file of @p folder. @return its path */
std::string
Write(const ScratchFolder& folder, const std::string& bytes)
{
    const std::string path = folder / "file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

// Bytes that are no text are refused at their location and not quoted in the message.
TEST(TextFile, RefusesBytesThatAreNoText)
{
    const ScratchFolder folder;
    const std::string path = Write(folder, std::string("a: 1\nb: \0", 9));
    EXPECT_EQ(RefusalOf([&] { ReadTextFile(path, "a list"); }),
              path + ":2:4: found the byte 0x00, expected a list");
    EXPECT_EQ(RefusalOf([&] { YamlNode::Load(path); }),
              path + ":2:4: found the byte 0x00, expected a YAML file");
    LocatedLines lines(path, "--flows");
    EXPECT_TRUE(lines.NextAtSpaces());
    EXPECT_EQ(RefusalOf([&] { lines.NextAtSpaces(); }),
              path + ":2: found the byte 0x00, expected text");
}

TEST(TextFile, RefusesWhatIsNoFile)
{
    const ScratchFolder folder;
    EXPECT_EQ(RefusalOf([&] { ReadTextFile(folder / ".", "a list"); }),
              folder / "." + ": found a folder, expected a list");
    EXPECT_EQ(RefusalOf([&] { ReadTextFile(folder / "none", "a list"); }),
              folder / "none" +
                  ": found no readable file (No such file or directory), expected a "
                  "list");
}

// Other editors write byte order marks and carriage returns.
TEST(TextFile, ReadsWhatOtherEditorsWrite)
{
    const ScratchFolder folder;
    const std::string path = Write(folder,
                                   "\xef\xbb\xbf"
                                   "a: 7\r\nb: 8");
    EXPECT_EQ(ReadTextFile(path, "text"), "a: 7\r\nb: 8");
    EXPECT_EQ(YamlNode::Load(path).Get("a").AsInteger(0, 9), 7);
    EXPECT_EQ(YamlNode::Load(path).Get("b").AsInteger(0, 9), 8);
    LocatedLines lines(path, "--flows");
    ASSERT_TRUE(lines.NextAtSpaces());
    EXPECT_EQ(lines.Fields()[0], "a:");
    EXPECT_EQ(lines.Fields()[1], "7");
}

// Command-line arguments have no line and column numbers.
TEST(YamlNode, ArgumentsHaveNoLines)
{
    EXPECT_EQ(RefusalOf([] { YamlNode::ParseArgument("{}", "--system").Get("name"); }),
              "--system: name: found nothing, expected a value for 'name'");
    EXPECT_EQ(RefusalOf([] { YamlNode::ParseArgument("[", "--system"); }),
              "--system: found invalid YAML (end of sequence flow not found), expected YAML");
    EXPECT_EQ(RefusalOf([] { YamlNode::ParseArgument("{a: 1, a: 2}", "--system"); }),
              "--system: a: found the key 'a' twice, expected it once");
}

} // namespace
} // namespace weir
