package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"adze/tool/schema"
)

// referring is a schema with n properties, each of which refers to a definition of its own: by its
// place, or by its name.
func referring(n int, by string) []byte {
	properties, definitions := make([]string, n), make([]string, n)
	for i := range n {
		properties[i] = fmt.Sprintf(`"p%d":{"$ref":"`+by+`%d"}`, i, i)
		definitions[i] = fmt.Sprintf(`"d%d":{"$anchor":"n%d","type":"object","properties":{"a":{"type":"string"}}}`, i, i)
	}
	return []byte(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"$defs":{` + strings.Join(definitions, ",") + `}}`)
}

// TestALargeSchemaIsReadOnce: four times the definitions take some four times the work to compile
// and to explain a value by, not sixteen times. 380 KB of them took a minute, because each
// reference, and each type, was looked for in the whole schema.
func TestALargeSchemaIsReadOnce(t *testing.T) {
	for _, by := range []string{"#/$defs/d", "#n"} {
		work := func(n int) float64 {
			raw, value := referring(n, by), map[string]any{}
			for i := range n {
				value[fmt.Sprintf("p%d", i)] = map[string]any{"a": 1.0}
			}
			return testing.AllocsPerRun(1, func() {
				check, err := schema.Compile(raw)
				if err != nil {
					t.Fatal(err)
				}
				if faults := check(value); len(faults) < 10 {
					t.Fatalf("%d faults", len(faults))
				}
			})
		}
		if few, many := work(100), work(400); many > 6*few {
			t.Errorf("by %s: %v allocations for 100 definitions, %v for 400", by, few, many)
		}
	}
}

// TestAnAnchorOfDefinitions: one is found by its name; what is data has none.
func TestAnAnchorOfDefinitions(t *testing.T) {
	check, err := schema.Compile([]byte(`{"$ref":"#here","$defs":{"b":{"$anchor":"here","type":"string"},"c":{"const":{"$anchor":"there"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if faults := check(1.0); len(faults) != 1 || !strings.Contains(faults[0].Message, "string") {
		t.Errorf("%v", faults)
	}
	if _, err := schema.Compile([]byte(`{"$ref":"#there","$defs":{"c":{"const":{"$anchor":"there"}}}}`)); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("an anchor in data: %v", err)
	}
}
