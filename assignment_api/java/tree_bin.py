"""One slot of a hash table: a chain, perhaps threaded through a red-black tree.

Java iterates over the chain, but the tree affects it: a new node comes right after its tree parent, and the root is
first (Kafka: ``java.util.HashMap``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["TreeBin", "TreeNode"]

_K = TypeVar("_K")
_V = TypeVar("_V")

_SIGN_32 = 0x8000_0000


class TreeNode(Generic[_K, _V]):
    """An entry of a hash table; links are for trees."""

    __slots__ = ("_sort_key", "hash", "key", "left", "parent", "red", "right", "value")

    def __init__(self, key: _K, value: _V, spread_hash: int, sort_key: Callable[[_K], Any]) -> None:
        self.key = key
        self.value = value
        self.hash = spread_hash
        self._sort_key = sort_key
        self.parent: TreeNode[_K, _V] | None = None
        self.left: TreeNode[_K, _V] | None = None
        self.right: TreeNode[_K, _V] | None = None
        self.red = False

    def clear_links(self) -> None:
        """Take the node out of its tree."""
        self.parent = self.left = self.right = None
        self.red = False

    def goes_left_of(self, other: TreeNode[_K, _V]) -> bool:
        """Tree order: spread hash as signed, then the keys' own order; equal goes left."""
        if self.hash != other.hash:
            return self.hash ^ _SIGN_32 < other.hash ^ _SIGN_32
        return bool(self._sort_key(self.key) <= self._sort_key(other.key))


class TreeBin(Generic[_K, _V]):
    """The entries of one slot; owns the chain ``nodes``."""

    __slots__ = ("nodes", "root")

    def __init__(self, nodes: list[TreeNode[_K, _V]]) -> None:
        #: In iteration order.
        self.nodes = nodes
        #: None while the slot is a plain chain.
        self.root: TreeNode[_K, _V] | None = None

    def treeify(self) -> None:
        """Make a tree, node by node; the root then comes first."""
        self.root = None
        for node in self.nodes:
            node.clear_links()
            self._add_to_tree(node)
        self._move_root_to_front()

    def insert(self, node: TreeNode[_K, _V]) -> None:
        """Add to the tree, right after the parent in the chain."""
        parent = self._add_to_tree(node)
        assert parent is not None
        self.nodes.insert(self._position(parent) + 1, node)
        self._move_root_to_front()

    def remove(self, node: TreeNode[_K, _V], *, through_map: bool) -> None:
        """Remove an entry from chain and tree.

        Args:
            through_map: By key: may turn a small tree into a chain, and brings the root to the front. An iterator does
                neither.
        """
        del self.nodes[self._position(node)]
        if not self.nodes:
            self.root = None
            return
        root = self.root
        assert root is not None
        # Java's rule considers the tree before removal.
        if through_map and (root.right is None or root.left is None or root.left.left is None):
            self.root = None
            return
        self._delete(node)
        if through_map:
            self._move_root_to_front()

    def _position(self, node: TreeNode[_K, _V]) -> int:
        return next(index for index, held in enumerate(self.nodes) if held is node)

    def _move_root_to_front(self) -> None:
        root = self.root
        assert root is not None
        if self.nodes[0] is not root:
            del self.nodes[self._position(root)]
            self.nodes.insert(0, root)

    def _add_to_tree(self, node: TreeNode[_K, _V]) -> TreeNode[_K, _V] | None:
        parent, below = None, self.root
        left = False
        while below is not None:
            parent, left = below, node.goes_left_of(below)
            below = below.left if left else below.right
        node.parent = parent
        if parent is None:
            self.root = node
        elif left:
            parent.left = node
        else:
            parent.right = node
        self._repair_insertion(node)
        return parent

    def _repair_insertion(self, node: TreeNode[_K, _V]) -> None:
        node.red = True
        while (parent := node.parent) is not None and parent.red:
            above = parent.parent
            assert above is not None  # a red node is never the root
            parent_is_left = parent is above.left
            uncle = above.right if parent_is_left else above.left
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                above.red = True
                node = above
                continue
            if node is (parent.right if parent_is_left else parent.left):
                self._rotate(parent, to_left=parent_is_left)
                node, parent = parent, node
            parent.red = False
            above.red = True
            self._rotate(above, to_left=not parent_is_left)
        assert self.root is not None
        self.root.red = False

    def _rotate(self, node: TreeNode[_K, _V], *, to_left: bool) -> None:
        riser = node.right if to_left else node.left
        assert riser is not None
        inner = riser.left if to_left else riser.right
        if to_left:
            node.right, riser.left = inner, node
        else:
            node.left, riser.right = inner, node
        if inner is not None:
            inner.parent = node
        self._replace_child(node, riser)
        node.parent = riser

    def _replace_child(self, old: TreeNode[_K, _V], new: TreeNode[_K, _V] | None) -> None:
        parent = old.parent
        if parent is None:
            self.root = new
        elif parent.left is old:
            parent.left = new
        else:
            parent.right = new
        if new is not None:
            new.parent = parent

    def _delete(self, node: TreeNode[_K, _V]) -> None:
        if node.left is not None and node.right is not None:
            self._swap_with_successor(node)
        child = node.left if node.left is not None else node.right
        if child is not None:
            self._replace_child(node, child)
            if not node.red:
                self._repair_deletion(child)
        else:
            # The node stands for a missing child during the repair.
            if not node.red:
                self._repair_deletion(node)
            self._replace_child(node, None)
        node.clear_links()

    def _swap_with_successor(self, node: TreeNode[_K, _V]) -> None:
        successor = node.right
        assert successor is not None
        while successor.left is not None:
            successor = successor.left
        node.red, successor.red = successor.red, node.red
        left, right, below = node.left, node.right, successor.right
        above = successor.parent
        self._replace_child(node, successor)
        successor.left = left
        assert left is not None
        left.parent = successor
        if above is node:
            successor.right = node
            node.parent = successor
        else:
            assert above is not None
            assert right is not None
            above.left = node
            node.parent = above
            successor.right = right
            right.parent = successor
        node.left, node.right = None, below
        if below is not None:
            below.parent = node

    def _repair_deletion(self, node: TreeNode[_K, _V]) -> None:
        while not node.red and (parent := node.parent) is not None:
            is_left = node is parent.left
            sibling = parent.right if is_left else parent.left
            if sibling is not None and sibling.red:
                sibling.red, parent.red = False, True
                self._rotate(parent, to_left=is_left)
                sibling = parent.right if is_left else parent.left
            if sibling is None:
                node = parent
                continue
            inner, outer = (sibling.left, sibling.right) if is_left else (sibling.right, sibling.left)
            if (inner is None or not inner.red) and (outer is None or not outer.red):
                sibling.red = True
                node = parent
                continue
            if outer is None or not outer.red:
                assert inner is not None
                inner.red, sibling.red = False, True
                self._rotate(sibling, to_left=not is_left)
                sibling, outer = inner, sibling
            sibling.red = parent.red
            parent.red = False
            assert outer is not None
            outer.red = False
            self._rotate(parent, to_left=is_left)
            return
        node.red = False
