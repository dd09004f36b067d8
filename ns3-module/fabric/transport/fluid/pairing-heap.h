// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLUID_PAIRING_HEAP_H
#define WEIR_FABRIC_TRANSPORT_FLUID_PAIRING_HEAP_H

#include <cstdint>

namespace weir
{

/**
 * The links of an item of a pairing heap. They are stored in the item, so that a heap allocates
 * nothing.
 */
struct PairingNode
{
    static constexpr uint32_t NONE = 0xffffffff;

    uint32_t child{NONE}; //!< first child
    uint32_t next{NONE};  //!< next sibling
    uint32_t prev{NONE};  //!< previous sibling, or the parent of a first child
};

/**
 * A pairing heap of items identified by index (Fredman, Sedgewick, Sleator, Tarjan, "The pairing
 * heap", Algorithmica 1, 1986). Insert is O(1), Pop and Remove are amortized O(log n). A heap is
 * identified by the index of its root; NONE is the empty heap.
 *
 * @tparam Items has `PairingNode& Node(uint32_t)` and the strict order `bool Before(uint32_t,
 *         uint32_t)`; the rank of an item in that order must not change while it is in a heap.
 */
template <typename Items>
class PairingHeap
{
  public:
    static constexpr uint32_t NONE = PairingNode::NONE;

    explicit PairingHeap(Items items)
        : m_items(items)
    {
    }

    /** @return the new root. */
    uint32_t Insert(uint32_t root, uint32_t item)
    {
        m_items.Node(item) = PairingNode();
        return root == NONE ? item : Join(root, item);
    }

    /** Removes the root. @return the new root. */
    uint32_t Pop(uint32_t root)
    {
        return JoinSiblings(m_items.Node(root).child);
    }

    /** Removes any item. @return the new root. */
    uint32_t Remove(uint32_t root, uint32_t item)
    {
        if (item == root)
        {
            return Pop(root);
        }
        const PairingNode node = m_items.Node(item);
        PairingNode& before = m_items.Node(node.prev);
        (before.child == item ? before.child : before.next) = node.next;
        if (node.next != NONE)
        {
            m_items.Node(node.next).prev = node.prev;
        }
        const uint32_t rest = JoinSiblings(node.child);
        return rest == NONE ? root : Join(root, rest);
    }

    /** Calls @p visit on every item, in unspecified order. */
    template <typename Visit>
    void ForEach(uint32_t root, Visit visit)
    {
        // Depth first; prev leads back up.
        for (uint32_t item = root; item != NONE;)
        {
            visit(item);
            if (m_items.Node(item).child != NONE)
            {
                item = m_items.Node(item).child;
                continue;
            }
            while (item != root && m_items.Node(item).next == NONE)
            {
                item = ParentOf(item);
            }
            item = item == root ? NONE : m_items.Node(item).next;
        }
    }

  private:
    uint32_t ParentOf(uint32_t item)
    {
        uint32_t before = m_items.Node(item).prev;
        while (m_items.Node(before).child != item)
        {
            item = before;
            before = m_items.Node(item).prev;
        }
        return before;
    }

    /** Makes the later of two roots the first child of the earlier. */
    uint32_t Join(uint32_t a, uint32_t b)
    {
        if (m_items.Before(b, a))
        {
            const uint32_t t = a;
            a = b;
            b = t;
        }
        PairingNode& parent = m_items.Node(a);
        PairingNode& child = m_items.Node(b);
        child.next = parent.child;
        child.prev = a;
        if (parent.child != NONE)
        {
            m_items.Node(parent.child).prev = b;
        }
        parent.child = b;
        parent.next = NONE;
        parent.prev = NONE;
        return a;
    }

    /** Two-pass pairing: joins neighbors from the left, then all pairs from the right. */
    uint32_t JoinSiblings(uint32_t first)
    {
        if (first == NONE)
        {
            return NONE;
        }
        uint32_t pairs = NONE; // joined pairs, the last one first, linked by next
        while (first != NONE)
        {
            const uint32_t second = m_items.Node(first).next;
            const uint32_t after = second == NONE ? NONE : m_items.Node(second).next;
            const uint32_t pair = second == NONE ? first : Join(first, second);
            m_items.Node(pair).next = pairs;
            pairs = pair;
            first = after;
        }
        uint32_t root = pairs;
        pairs = m_items.Node(root).next;
        while (pairs != NONE)
        {
            const uint32_t after = m_items.Node(pairs).next;
            root = Join(root, pairs);
            pairs = after;
        }
        m_items.Node(root).next = NONE;
        m_items.Node(root).prev = NONE;
        return root;
    }

    Items m_items;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLUID_PAIRING_HEAP_H
