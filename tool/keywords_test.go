package tool_test

import (
	"strings"
	"testing"

	"adze/internal/testkit/golden"
)

// The keywords of the vocabularies core, applicator, unevaluated and validation of draft 2020-12,
// and those of draft 7, that can make a value invalid without a reference leading outside.
func judgingKeywords(draft7 bool) []string {
	both := strings.Fields(`$ref allOf anyOf oneOf not if then else properties patternProperties additionalProperties propertyNames
		items contains type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern
		maxItems minItems uniqueItems maxProperties minProperties required`)
	if draft7 {
		return append(both, "definitions", "dependencies", "additionalItems")
	}
	return append(both, "$defs", "$anchor", "$dynamicRef", "$dynamicAnchor", "dependentSchemas", "dependentRequired", "prefixItems",
		"minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties")
}

// Keywords that only tell: no value is refused because of them (2020-12 validation §7 to §9).
func tellingKeywords() []string {
	return strings.Fields("title description default examples deprecated readOnly writeOnly $comment format contentEncoding contentMediaType")
}

// TestEveryKeywordHasCases: each keyword of each draft stands in a case that accepts and refuses
// values, and keywords that only tell stand in one that accepts.
func TestEveryKeywordHasCases(t *testing.T) {
	accepts, refuses := map[string]int{}, map[string]int{}
	golden.Cases(t, "testdata/schema", func(t *testing.T, c *golden.Case) {
		draft := "2020 "
		if strings.Contains(c.Input, "draft-07") {
			draft = "7 "
		}
		used := map[string]bool{}
		keywordsIn(decoded(t, c.Input), used)
		values, _ := c.Section("values")
		for line := range strings.Lines(values) {
			for keyword := range used {
				if strings.HasPrefix(line, "ok") {
					accepts[draft+keyword]++
				} else {
					refuses[draft+keyword]++
				}
			}
		}
	})
	for draft, draft7 := range map[string]bool{"2020 ": false, "7 ": true} {
		for _, keyword := range judgingKeywords(draft7) {
			if accepts[draft+keyword] == 0 || refuses[draft+keyword] == 0 {
				t.Errorf("draft %s: %d values accepted and %d refused", draft+keyword, accepts[draft+keyword], refuses[draft+keyword])
			}
		}
		for _, keyword := range tellingKeywords() {
			if accepts[draft+keyword] == 0 {
				t.Errorf("draft %s: no value accepted", draft+keyword)
			}
		}
	}
}

// keywordsIn collects the keywords of a schema; names of properties and data are none.
func keywordsIn(node any, used map[string]bool) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			keywordsIn(child, used)
		}
	case map[string]any:
		for key, child := range n {
			used[key] = true
			switch key {
			case "const", "enum", "default", "examples", "required", "dependentRequired":
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				for _, named := range child.(map[string]any) {
					keywordsIn(named, used)
				}
			default:
				keywordsIn(child, used)
			}
		}
	}
}
