package schema

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// document is a schema with its reference targets. It is safe for concurrent use.
type document struct {
	root    any
	noted   sync.Once      // at the first reference by name, which few schemas have
	anchors map[string]any // by plain name
}

// target follows a local reference: a JSON pointer or an anchor.
func (d *document) target(ref string) (target any, found bool) {
	fragment, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil, false
	}
	if fragment == "" {
		return d.root, true
	}
	if strings.HasPrefix(fragment, "/") {
		return Follow(d.root, strings.Split(fragment, "/")[1:])
	}
	d.noted.Do(func() {
		d.anchors = map[string]any{}
		d.anchor(d.root)
	})
	target, found = d.anchors[fragment]
	return target, found
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// Follow returns a JSON pointer's target.
func Follow(node any, steps []string) (any, bool) {
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

// anchor records schemas by plain name: $anchor and $dynamicAnchor, and in draft 7 an $id like
// "#name". The first one with a name counts.
func (d *document) anchor(node any) {
	switch n := node.(type) {
	case map[string]any:
		for _, key := range []string{"$anchor", "$dynamicAnchor", "$id"} {
			name, ok := n[key].(string)
			if key == "$id" {
				name, ok = strings.CutPrefix(name, "#")
			}
			if _, taken := d.anchors[name]; ok && !taken {
				d.anchors[name] = n
			}
		}
		for _, key := range slices.Sorted(maps.Keys(n)) {
			if !dataKeyword(key) {
				d.anchor(n[key])
			}
		}
	case []any:
		for _, child := range n {
			d.anchor(child)
		}
	}
}
