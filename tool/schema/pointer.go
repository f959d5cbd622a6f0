package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// lookupRef follows a local reference: a JSON pointer or an anchor.
func lookupRef(root any, ref string) (target any, found bool) {
	fragment, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil, false
	}
	if fragment == "" {
		return root, true
	}
	if !strings.HasPrefix(fragment, "/") {
		return anchored(root, fragment)
	}
	return follow(root, strings.Split(fragment, "/")[1:])
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

func follow(node any, steps []string) (any, bool) {
	for _, step := range steps {
		step = pointerUnescapes.Replace(step)
		switch n := node.(type) {
		case map[string]any:
			child, ok := n[step]
			if !ok {
				return nil, false
			}
			node = child
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n) {
				return nil, false
			}
			node = n[i]
		default:
			return nil, false
		}
	}
	return node, true
}

// anchored finds the schema that calls itself by a plain name: $anchor and $dynamicAnchor, and in draft 7
// an $id of "#name".
func anchored(node any, name string) (target any, found bool) {
	var children []any
	switch n := node.(type) {
	case map[string]any:
		if n["$anchor"] == name || n["$dynamicAnchor"] == name || n["$id"] == "#"+name {
			return n, true
		}
		for _, key := range sortedKeys(n) {
			if !dataKeyword(key) {
				children = append(children, n[key])
			}
		}
	case []any:
		children = n
	}
	for _, child := range children {
		if target, found := anchored(child, name); found {
			return target, true
		}
	}
	return nil, false
}
