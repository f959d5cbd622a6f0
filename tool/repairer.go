package tool

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"adze/tool/laxjson"
)

// Repairer is an optional second way to mend arguments that are not JSON, asked only where no rule
// applies. Contract: it makes one attempt and returns the arguments as one JSON object; an error or
// "" is a refusal; it never runs anything. What it returns is held to the same rule as any repair
// (see faithful), then judged like the model's own.
type Repairer interface {
	Repair(ctx context.Context, b Broken) (string, error)
}

// Broken is a call whose arguments could not be read.
type Broken struct {
	Tool      Definition
	Arguments string
	Faults    []Fault
}

// askModel makes the one attempt by the Repairer. Arguments that were cut are never shown to it:
// the only way to mend them is to invent their end.
func (h *Hydration) askModel(ctx context.Context, model Repairer, before string, faults []Fault) (text string, did fixes) {
	if model == nil || faults[0].Stage != StageParse || !whole(before) {
		return "", fixes{}
	}
	defer func() {
		if recover() != nil { // a Repairer that fails inside has not mended anything
			text, did = "", fixes{}
		}
	}()
	text, err := model.Repair(ctx, Broken{Tool: h.prepared.def.Clone(), Arguments: before, Faults: withoutDetail(faults)})
	if err != nil || !faithful(before, text) {
		return "", fixes{}
	}
	return text, fixes{kinds: laxjson.Steps{stepModel}}
}

// whole reports whether arguments have an end: brackets and quotes come in pairs, and a brace is
// last. It errs on the side of a cut.
func whole(text string) bool {
	text = strings.TrimSuffix(strings.TrimSpace(text), "```")
	plain := strings.ReplaceAll(text, `\\`, "")
	quotes := strings.Count(plain, `"`) - strings.Count(plain, `\"`)
	return strings.HasSuffix(strings.TrimSpace(text), "}") && quotes%2 == 0 &&
		strings.Count(text, "{") == strings.Count(text, "}") && strings.Count(text, "[") == strings.Count(text, "]")
}

// faithful reports whether a mended text says what the broken one said: the same characters in the
// same order but for those that give structure, and each of its names, strings and numbers in one
// piece.
func faithful(before, after string) bool {
	var did laxjson.Steps
	root, ok := laxjson.Read(after, &did)
	if !ok || len(did) > 0 || root.Kind != laxjson.Object {
		return false
	}
	plain := laxjson.Unescaped(before)
	return skeleton(plain) == skeleton(laxjson.Unescaped(after)) && stands(root, before, plain)
}

// stands reports whether every name, string and number of a tree stands in one of the texts.
func stands(t *laxjson.Tree, texts ...string) bool {
	found := func(part string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
	}
	if !found(t.Text) || slices.ContainsFunc(t.Names, func(name string) bool { return !found(name) }) {
		return false
	}
	return !slices.ContainsFunc(t.Items, func(item *laxjson.Tree) bool { return !stands(item, texts...) })
}

// skeleton is a text without what gives structure.
func skeleton(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), "```")
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimPrefix(rest, "json")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("{}[]:,\"'“”‘’\\", r) {
			return -1
		}
		return r
	}, text)
}
