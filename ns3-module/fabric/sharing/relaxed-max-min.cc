// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/relaxed-max-min.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace weir::maxmin
{

namespace
{

/**
 * Number of times that a link recomputes its level before its load is recomputed from its members.
 */
constexpr uint32_t MAX_FOUND = 128;

/**
 * If more than one in this many variables has changed, progressive filling of all links is used.
 */
constexpr std::size_t CHANGED_PART = 4;

/**
 * A solve that examines more than this many times the number of crossings falls back to filling all
 * links.
 */
constexpr std::size_t FILL_COST = 4;

} // namespace

RelaxedMaxMin::RelaxedMaxMin(const LocalMaxMin& other, double tolerance)
    : GroupedSystem(other),
      m_tolerance(tolerance),
      m_windows(m_tables.links.size()),
      m_lowestCaps(m_tables.links.size(), INFINITE),
      m_isUnsure(m_tables.links.size(), 0),
      m_queue(m_tables.links.size())
{
    for (uint32_t link = 0; link < m_groups.None(); link++)
    {
        Refresh(link);
    }
    SolveAll();
}

void
RelaxedMaxMin::Solve()
{
    m_tables.moved.clear();
    m_tables.touched.clear();
    m_spent = 0;
    const std::size_t changed = m_changedVariables.size();
    ApplyChanges();
    if (changed * CHANGED_PART > std::max(m_contending, m_tables.links.size()))
    {
        Fill();
    }
    while (!m_queue.Empty())
    {
        if (m_spent > FILL_COST * (m_crossings + m_tables.links.size()))
        {
            Fill();
            break;
        }
        Resolve(m_queue.TopIndex());
    }
    for (const uint32_t link : m_tables.touched)
    {
        m_tables.links[link].isTouched = false;
    }
}

void
RelaxedMaxMin::ApplyCapacity(uint32_t link, double capacity)
{
    GroupedLink& l = m_tables.links[link];
    const double before = l.capacity;
    if (capacity == before)
    {
        return;
    }
    l.capacity = capacity;
    if (before == INFINITE || capacity == INFINITE)
    {
        // A link of infinite capacity has no load and may have members that nothing else limits.
        std::vector<uint32_t> members;
        for (const Member& m : l.members)
        {
            if (m_tables.variables[m.variable].standing == Variable::Contending)
            {
                members.push_back(m.variable);
            }
        }
        l.capacity = before;
        for (const uint32_t v : members)
        {
            Withdraw(v);
        }
        l.capacity = capacity;
        l.risers = 0;
        m_groups.Fixed(link) = 0;
        m_groups.Function(link) = LoadFunction();
        for (const uint32_t v : members)
        {
            const double next = m_tables.variables[v].nextWeight;
            m_tables.variables[v].nextWeight = m_tables.variables[v].weight;
            Enter(v);
            m_tables.variables[v].nextWeight = next;
        }
    }
    m_groups.RecomputeLoad(link); // removes rounding errors at the old capacity
    Touch(link);
    Refresh(link);
}

/** Removes a variable from the loads of its links and from its group. */
void
RelaxedMaxMin::Withdraw(uint32_t v)
{
    const GroupedVariable& variable = m_tables.variables[v];
    m_contending--;
    m_crossings -= variable.length;
    TakeFromLoads(v);
    const uint32_t bottleneck = variable.bottleneck;
    m_groups.SetBottleneck(v, m_groups.None(), 0);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_tables.crossings[i].link;
        if (m_windows[link].min == -INFINITE)
        {
            Touch(link); // it may no longer be full
        }
        Heed(link, bottleneck);
    }
}

/**
 * Adds a variable that is in no load, with its next weight, to the links at their present levels.
 */
void
RelaxedMaxMin::Enter(uint32_t v)
{
    GroupedVariable& variable = m_tables.variables[v];
    variable.weight = variable.nextWeight;
    m_contending++;
    m_crossings += variable.length;
    uint32_t bottleneck = m_groups.None();
    double level = variable.cap;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        GroupedLink& l = m_tables.links[crossing.link];
        const double weight = m_tables.multiplicities[i] * variable.weight;
        l.members[crossing.position].weight = weight;
        if (l.capacity == INFINITE)
        {
            continue;
        }
        const double room = std::max(0.0, l.capacity - m_groups.Fixed(crossing.link)) / weight;
        const double here = l.risers > 0 ? l.level : room;
        if (here < level)
        {
            level = here;
            bottleneck = crossing.link;
        }
    }
    if (bottleneck != m_groups.None() && m_tables.links[bottleneck].risers == 0)
    {
        m_isUnsure[bottleneck] = 1;
    }
    AddToLoads(v, bottleneck, level);
}

/** Removes a variable from the loads of its links. */
void
RelaxedMaxMin::TakeFromLoads(uint32_t v)
{
    const GroupedVariable& variable = m_tables.variables[v];
    const double level = m_groups.Level(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        const GroupedLink& l = m_tables.links[crossing.link];
        if (l.capacity == INFINITE)
        {
            continue;
        }
        const double weight = m_tables.multiplicities[i] * variable.weight;
        if (variable.bottleneck == crossing.link)
        {
            m_groups.TakeRiser(crossing.link, weight, true);
        }
        else
        {
            m_groups.Fixed(crossing.link) -= weight * level;
        }
    }
}

/** Adds a variable that is in no load to the group of a link, or to no group (None()). */
void
RelaxedMaxMin::AddToLoads(uint32_t v, uint32_t bottleneck, double level)
{
    GroupedVariable& variable = m_tables.variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        const uint32_t link = crossing.link;
        if (m_tables.links[link].capacity == INFINITE)
        {
            continue;
        }
        const double weight = m_tables.multiplicities[i] * variable.weight;
        if (link == bottleneck)
        {
            AddRiser(link, weight, variable.cap, level);
        }
        else
        {
            Load(link, weight * level, level);
        }
    }
    m_groups.SetBottleneck(v, bottleneck, level);
    variable.level = level;
    m_tables.moved.push_back(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_tables.crossings[i].link;
        if (m_windows[link].min == -INFINITE)
        {
            Touch(link); // it may be full now, and is no longer idle
        }
        Heed(link, bottleneck);
    }
}

void
RelaxedMaxMin::Left(uint32_t link, uint32_t position, uint32_t v)
{
    GroupedSystem::Left(link, position, v);
    if (m_tables.links[link].members.empty())
    {
        m_groups.RecomputeLoad(link);
        Touch(link);
        Refresh(link);
    }
}

/** Records that a solve changes a link. */
void
RelaxedMaxMin::Touch(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    if (!l.isTouched)
    {
        l.isTouched = true;
        m_tables.touched.push_back(link);
    }
}

/** Recomputes the window of a link after a change of its level or its group. */
void
RelaxedMaxMin::Refresh(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    Window& window = m_windows[link];
    if (l.risers == 0)
    {
        m_groups.SetLevel(link, INFINITE);
        m_isUnsure[link] = 0;
        window.min = -INFINITE;
        window.max = l.capacity * (1 + m_tolerance);
    }
    else
    {
        const double rising = m_groups.Function(link).rising * l.level;
        window.min = l.capacity * (1 - m_tolerance) - rising;
        window.max = l.capacity * (1 + m_tolerance) - rising;
    }
    const double fixed = m_groups.Fixed(link);
    l.peak = std::max(l.peak, fixed);
    if (fixed < window.min || fixed > window.max || m_isUnsure[link] != 0)
    {
        Queue(link);
    }
}

/** Queues a link for the recomputation of its level. */
void
RelaxedMaxMin::Queue(uint32_t link)
{
    const GroupedLink& l = m_tables.links[link];
    const double level = l.risers > 0
                             ? std::min(l.level, m_groups.MeetingLevel(link))
                             : m_groups.Function(link).highest * l.capacity / m_groups.Fixed(link);
    m_queue.Set(link, std::max(0.0, level));
}

/** Recomputes the level of a link, given the levels of all others. */
void
RelaxedMaxMin::Resolve(uint32_t link)
{
    GroupedLink& l = m_tables.links[link];
    LoadFunction& f = m_groups.Function(link);
    m_queue.Remove(link);
    Touch(link);
    const bool isUnsure = std::exchange(m_isUnsure[link], 0) != 0;
    if (++l.solves > MAX_FOUND || m_groups.Fixed(link) < l.peak * LOST)
    {
        m_groups.RecomputeLoad(link);
        m_spent += l.members.size();
    }
    const double before = l.level;
    const std::size_t moved = m_tables.moved.size();
    double level = l.risers > 0 ? std::max(0.0, m_groups.MeetingLevel(link)) : 0;
    m_higher.clear();
    if (isUnsure || level < f.highest)
    {
        FindHigher(link, level);
        level = m_higher.empty() ? level : LevelWithHigher(link, level);
    }
    if (!m_higher.empty())
    {
        SetLevel(link, level);
        for (const HigherMember& h : m_higher)
        {
            const uint32_t first = m_tables.variables[h.variable].first;
            __builtin_prefetch(&m_tables.crossings[first]);
            __builtin_prefetch(&m_tables.multiplicities[first]);
        }
        for (const HigherMember& h : m_higher)
        {
            Put(h.variable, link, level, link);
        }
        m_groups.Fixed(link) = m_lower;
        m_queue.Remove(link);
        Refresh(link);
        if (level > before)
        {
            Release(link, level); // other links may limit its group to less
        }
    }
    else if (l.risers > 0 && (level > before || isUnsure))
    {
        Release(link, level);
    }
    else if (l.risers > 0)
    {
        SetLevel(link, level);
    }
    if (l.level == before && m_tables.moved.size() == moved)
    {
        m_groups.RecomputeLoad(link); // the deviation is a rounding error
        m_isUnsure[link] = 0;
        Refresh(link);
        m_queue.Remove(link);
    }
}

/** Finds the members of a link that are at higher levels and not in its group. */
void
RelaxedMaxMin::FindHigher(uint32_t link, double level)
{
    const GroupedLink& l = m_tables.links[link];
    const double* const levels = m_groups.Levels();
    const uint32_t none = m_groups.None();
    double highest = 0;
    m_higher.clear();
    m_lower = 0;
    m_spent += l.members.size();
    for (std::size_t i = 0; i < l.members.size(); i++)
    {
        const uint32_t bottleneck = l.bottlenecks[i];
        if (bottleneck == link)
        {
            continue;
        }
        const Member& m = l.members[i];
        const double other =
            bottleneck == none ? m_tables.variables[m.variable].level : levels[bottleneck];
        highest = std::max(highest, other);
        if (other > level)
        {
            __builtin_prefetch(&m_tables.variables[m.variable]); // likely to join this group
            m_higher.push_back({other, m.weight, m.variable});
        }
        else
        {
            m_lower += m.weight * other;
        }
    }
    m_groups.Function(link).highest = highest;
}

/**
 * The level of a link that takes over the members in m_higher, which are at higher levels
 * elsewhere; @p meeting if it takes over none. Newton's method from below. On return m_higher has
 * only the members that it takes over.
 */
double
RelaxedMaxMin::LevelWithHigher(uint32_t link, double meeting)
{
    const GroupedLink& l = m_tables.links[link];
    double level = 0;
    while (!m_higher.empty())
    {
        double rising = m_groups.Function(link).rising;
        for (const HigherMember& h : m_higher)
        {
            rising += h.weight;
        }
        level = std::max(level, (l.capacity - m_lower) / rising);
        std::size_t kept = 0;
        for (const HigherMember& h : m_higher)
        {
            if (h.level > level)
            {
                m_higher[kept++] = h;
            }
            else
            {
                m_lower += h.weight * h.level;
            }
        }
        if (kept == m_higher.size())
        {
            return level;
        }
        m_higher.resize(kept);
    }
    return meeting;
}

/**
 * Lets a group rise to @p level, or higher if some of its variables leave the group because another
 * link or a cap limits them.
 */
void
RelaxedMaxMin::Release(uint32_t link, double level)
{
    const GroupedLink& l = m_tables.links[link];
    m_released.clear();
    for (std::size_t before = NONE; before != m_released.size();)
    {
        before = m_released.size();
        FindReleased(link, level);
        double fixed = m_groups.Fixed(link);
        double rising = m_groups.Function(link).rising;
        for (const uint32_t v : m_released)
        {
            double limit = 0;
            LimitOf(v, link, limit);
            const double weight = WeightOn(v, link);
            fixed += weight * limit;
            rising -= weight;
        }
        if (m_released.size() == l.risers)
        {
            break;
        }
        level = std::max(level, (l.capacity - fixed) / rising);
    }
    for (const uint32_t v : m_released)
    {
        double limit = 0;
        const uint32_t bottleneck = LimitOf(v, link, limit);
        Put(v, bottleneck, limit, link);
    }
    m_queue.Remove(link);
    if (l.risers > 0)
    {
        SetLevel(link, std::max(0.0, m_groups.MeetingLevel(link)));
    }
    else
    {
        Refresh(link);
    }
}

/** Finds the variables of a group that a cap or another link limits to below @p level. */
void
RelaxedMaxMin::FindReleased(uint32_t link, double level)
{
    const GroupedLink& l = m_tables.links[link];
    const double* const levels = m_groups.Levels();
    const Reach& reach = l.reach;
    m_released.clear();
    m_spent += reach.links.size();
    for (std::size_t i = 0; i < reach.links.size(); i++)
    {
        if (levels[reach.links[i]] < level)
        {
            const GroupedCrossing& crossing = m_tables.crossings[reach.crossings[i]];
            m_released.push_back(m_tables.links[crossing.link].members[crossing.position].variable);
        }
    }
    if (m_lowestCaps[link] < level)
    {
        m_spent += l.members.size();
        m_lowestCaps[link] = INFINITE;
        for (std::size_t i = 0; i < l.members.size(); i++)
        {
            const uint32_t v = l.members[i].variable;
            if (l.bottlenecks[i] != link)
            {
                continue;
            }
            NoteCap(link, m_tables.variables[v].cap);
            if (m_tables.variables[v].cap < level)
            {
                m_released.push_back(v);
            }
        }
    }
    std::sort(m_released.begin(), m_released.end());
    m_released.erase(std::unique(m_released.begin(), m_released.end()), m_released.end());
}

/**
 * Finds the link that limits a variable when one link is disregarded; None() if its cap does.
 * @param level returns the limit
 */
uint32_t
RelaxedMaxMin::LimitOf(uint32_t v, uint32_t except, double& level) const
{
    const GroupedVariable& variable = m_tables.variables[v];
    uint32_t bottleneck = m_groups.None();
    level = variable.cap;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const uint32_t link = m_tables.crossings[i].link;
        if (link != except && m_groups.Levels()[link] < level)
        {
            level = m_groups.Levels()[link];
            bottleneck = link;
        }
    }
    return bottleneck;
}

double
RelaxedMaxMin::WeightOn(uint32_t v, uint32_t link) const
{
    const GroupedVariable& variable = m_tables.variables[v];
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        if (m_tables.crossings[i].link == link)
        {
            return m_tables.multiplicities[i] * variable.weight;
        }
    }
    return 0;
}

/** Changes the level of a group. */
void
RelaxedMaxMin::SetLevel(uint32_t link, double level)
{
    const GroupedLink& l = m_tables.links[link];
    const Reach& reach = l.reach;
    const double change = l.risers > 0 ? level - l.level : 0;
    m_groups.SetLevel(link, level);
    m_spent += reach.links.size();
    for (std::size_t i = 0; i < reach.links.size() && change != 0; i++)
    {
        const uint32_t other = reach.links[i];
        double& fixed = m_groups.Fixed(other);
        fixed += reach.weights[i] * change;
        if (change > 0)
        {
            LoadFunction& f = m_groups.Function(other);
            f.highest = std::max(f.highest, level);
        }
        if (fixed < m_windows[other].min || fixed > m_windows[other].max)
        {
            Queue(other);
        }
        if (m_keepsLoads)
        {
            Touch(other);
        }
    }
    Refresh(link);
}

/**
 * Moves a variable to another group, whose level is @p level, or to none (None()).
 * @param resolved link that the caller refreshes later
 */
void
RelaxedMaxMin::Put(uint32_t v, uint32_t bottleneck, double level, uint32_t resolved)
{
    GroupedVariable& variable = m_tables.variables[v];
    const uint32_t from = variable.bottleneck;
    const double before = m_groups.Level(v);
    variable.bottleneck = bottleneck;
    variable.level = level;
    m_tables.moved.push_back(v);
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        const uint32_t link = crossing.link;
        const double weight = m_tables.multiplicities[i] * variable.weight;
        const double fixed = m_groups.Fixed(link);
        m_tables.links[link].bottlenecks[crossing.position] = bottleneck;
        if (from != m_groups.None() && link != from)
        {
            m_groups.TakeCrossing(i, from);
        }
        if (bottleneck != m_groups.None() && link != bottleneck)
        {
            m_groups.GiveCrossing(i, bottleneck, weight, level);
        }
        if (link == from)
        {
            m_groups.TakeRiser(link, weight, true);
            Load(link, weight * level, level);
        }
        else if (link == bottleneck)
        {
            m_groups.Fixed(link) -= weight * before;
            AddRiser(link, weight, variable.cap, level);
        }
        else
        {
            Load(link, weight * (level - before), level);
        }
        if (link == resolved)
        {
            continue;
        }
        const double load = std::max(fixed, m_groups.Fixed(link));
        if (m_windows[link].min == -INFINITE && load >= m_windows[link].max * (1 - m_tolerance))
        {
            Touch(link); // it may have become full or ceased to be full
        }
        Heed(link, link == from ? from : bottleneck);
    }
}

/**
 * Adds @p more to the load of a link, from a member at @p level that is not in the link's group.
 */
void
RelaxedMaxMin::Load(uint32_t link, double more, double level)
{
    LoadFunction& f = m_groups.Function(link);
    m_groups.Fixed(link) += more;
    f.highest = std::max(f.highest, level);
}

/** Adds a member to the group of a link, which is at @p level. */
void
RelaxedMaxMin::AddRiser(uint32_t link, double weight, double cap, double level)
{
    GroupedLink& l = m_tables.links[link];
    if (l.risers == 0)
    {
        m_groups.SetLevel(link, level);
        m_lowestCaps[link] = INFINITE;
    }
    m_groups.Function(link).rising += weight;
    l.risers++;
    NoteCap(link, cap);
}

/**
 * Reacts to a change of the load of a link by a member, which is in the link's group if @p
 * bottleneck is the link: queues the link if it must recompute its level.
 */
void
RelaxedMaxMin::Heed(uint32_t link, uint32_t bottleneck)
{
    if (link == bottleneck)
    {
        Touch(link);
        Refresh(link);
        return;
    }
    const Window& window = m_windows[link];
    const double fixed = m_groups.Fixed(link);
    if (m_keepsLoads)
    {
        Touch(link);
    }
    if (fixed < window.min || fixed > window.max)
    {
        Queue(link);
    }
}

/** Computes all levels exactly by progressive filling. */
void
RelaxedMaxMin::Fill()
{
    m_queue.Clear();
    std::vector<uint32_t> variables;
    for (uint32_t v = 0; v < m_tables.variables.size(); v++)
    {
        if (m_tables.variables[v].standing == Variable::Contending)
        {
            m_tables.variables[v].bottleneck = m_groups.None();
            variables.push_back(v);
        }
    }
    for (uint32_t link = 0; link < m_groups.None(); link++)
    {
        GroupedLink& l = m_tables.links[link];
        m_groups.Fixed(link) = 0;
        m_groups.Function(link) = LoadFunction();
        m_groups.SetLevel(link, INFINITE);
        m_isUnsure[link] = 0;
        m_lowestCaps[link] = INFINITE;
        l.risers = 0;
        l.reach.links.clear();
        l.reach.weights.clear();
        l.reach.crossings.clear();
        for (std::size_t i = 0; i < l.members.size(); i++)
        {
            l.bottlenecks[i] = m_groups.None();
            if (m_tables.variables[l.members[i].variable].standing == Variable::Contending)
            {
                m_groups.Function(link).rising += l.members[i].weight;
                l.risers++;
            }
        }
    }
    m_isFrozen.assign(m_tables.variables.size(), 0);
    FreezeAll(variables);
    for (const uint32_t v : variables)
    {
        const GroupedVariable& variable = m_tables.variables[v];
        const uint32_t bottleneck = variable.bottleneck;
        m_tables.moved.push_back(v);
        for (uint32_t i = variable.first;
             i < variable.first + variable.length && bottleneck != m_groups.None();
             i++)
        {
            const GroupedCrossing& crossing = m_tables.crossings[i];
            m_tables.links[crossing.link].bottlenecks[crossing.position] = bottleneck;
            if (crossing.link != bottleneck)
            {
                m_groups.GiveCrossing(
                    i, bottleneck, m_tables.multiplicities[i] * variable.weight, variable.level);
            }
        }
        if (bottleneck != m_groups.None())
        {
            NoteCap(bottleneck, variable.cap);
        }
    }
    for (uint32_t link = 0; link < m_groups.None(); link++)
    {
        if (!m_tables.links[link].members.empty())
        {
            m_groups.RecomputeLoad(link);
            Touch(link);
        }
        Refresh(link);
    }
    m_queue.Clear();
}

/** Freezes variables in ascending order of level, where links saturate and at caps. */
void
RelaxedMaxMin::FreezeAll(const std::vector<uint32_t>& variables)
{
    using Entry = std::pair<double, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> links;
    const auto keyOf = [this](uint32_t link) { return std::max(0.0, m_groups.MeetingLevel(link)); };
    for (uint32_t link = 0; link < m_groups.None(); link++)
    {
        if (m_tables.links[link].risers > 0 && m_tables.links[link].capacity < INFINITE)
        {
            links.push({keyOf(link), link});
        }
    }
    std::vector<uint32_t> byCap = variables;
    std::sort(byCap.begin(), byCap.end(), [this](uint32_t a, uint32_t b) {
        const double capOfA = m_tables.variables[a].cap;
        const double capOfB = m_tables.variables[b].cap;
        return capOfA < capOfB || (capOfA == capOfB && a < b);
    });
    double level = 0;
    std::size_t next = 0;
    while (!links.empty() || next < byCap.size())
    {
        const uint32_t link = links.empty() ? m_groups.None() : links.top().second;
        if (!links.empty() && m_tables.links[link].risers == 0)
        {
            links.pop();
            continue;
        }
        if (!links.empty() && links.top().first < keyOf(link))
        {
            links.pop();
            links.push({keyOf(link), link});
            continue;
        }
        if (links.empty() ||
            (next < byCap.size() && m_tables.variables[byCap[next]].cap <= links.top().first))
        {
            const uint32_t v = byCap[next++];
            if (m_isFrozen[v] == 0)
            {
                level = std::max(level, m_tables.variables[v].cap);
                FreezeInFill(v, m_groups.None(), m_tables.variables[v].cap);
            }
            continue;
        }
        const GroupedLink& l = m_tables.links[link];
        const double key = links.top().first;
        links.pop();
        const double rising = m_groups.Function(link).rising;
        level = (key - level) * rising <= SAME_LOAD * l.capacity ? level : key;
        m_groups.SetLevel(link, level);
        for (const Member& m : l.members)
        {
            if (m_isFrozen[m.variable] == 0 &&
                m_tables.variables[m.variable].standing == Variable::Contending)
            {
                FreezeInFill(m.variable, link, level);
            }
        }
    }
}

void
RelaxedMaxMin::FreezeInFill(uint32_t v, uint32_t bottleneck, double level)
{
    GroupedVariable& variable = m_tables.variables[v];
    m_isFrozen[v] = 1;
    variable.bottleneck = bottleneck;
    variable.level = level;
    for (uint32_t i = variable.first; i < variable.first + variable.length; i++)
    {
        const GroupedCrossing& crossing = m_tables.crossings[i];
        const double weight = m_tables.multiplicities[i] * variable.weight;
        m_groups.Fixed(crossing.link) += weight * level;
        m_groups.TakeRiser(crossing.link, weight, true);
    }
}

} // namespace weir::maxmin
