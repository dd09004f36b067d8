// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TEST_WEIR_TEST_CASE_H
#define WEIR_TEST_WEIR_TEST_CASE_H

#include "ns3/test.h"

/**
 * Defines a test case of ns-3 without members of its own: the class @p Name, the statement that it
 * checks, and, in the braces that follow, the check.
 */
#define WEIR_TEST_CASE(Name, statement)                                                            \
    class Name : public TestCase                                                                   \
    {                                                                                              \
      public:                                                                                      \
        Name()                                                                                     \
            : TestCase(statement)                                                                  \
        {                                                                                          \
        }                                                                                          \
                                                                                                   \
      private:                                                                                     \
        void DoRun() override;                                                                     \
    };                                                                                             \
    void Name::DoRun()

#endif // WEIR_TEST_WEIR_TEST_CASE_H
