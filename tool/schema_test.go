package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"adze/tool"
)

type inner struct {
	Name  string  `json:"name" doc:"a \"name\" with <b> & more"`
	Score float64 `json:"score,omitempty" min:"-1.5" max:"2e3"`
}

type Paged struct {
	Offset int `json:"offset,omitempty" min:"1"`
	hidden int
}

type everything struct {
	Zeta    string           `json:"zeta" doc:"first although last by name"`
	Alpha   *int             `json:"alpha"`
	Mode    string           `json:"mode,omitempty" enum:"content,files,count" doc:"how"`
	Flag    bool             `json:"flag,omitzero"`
	Many    []inner          `json:"many"`
	One     inner            `json:"one"`
	Ref     *inner           `json:"ref"`
	Counts  map[string]uint8 `json:"counts,omitempty"`
	Pair    [2]string        `json:"pair"`
	Raw     json.RawMessage  `json:"raw,omitempty" doc:"anything"`
	Any     any              `json:"any,omitempty"`
	Data    []byte           `json:"data,omitempty"`
	Skipped string           `json:"-"`
	//lint:ignore SA5008 "-," names a field "-"; a schema must not take it for a skipped one
	Dash    string `json:"-,"`
	NoTag   string
	Wait    time.Duration `json:"wait,omitempty"`
	Named   Paged         `json:"named"`
	private string
}

func TestSchemaOfEverything(t *testing.T) {
	got, err := tool.SchemaOf[everything]()
	if err != nil {
		t.Fatal(err)
	}
	const innerSchema = `{"type":"object","properties":{"name":{"type":"string","description":"a \"name\" with <b> & more"},"score":{"type":"number","minimum":-1.5,"maximum":2e3}},"required":["name"],"additionalProperties":false}`
	const paged = `"offset":{"type":"integer","minimum":1}`
	want := `{"type":"object","properties":{` + strings.Join([]string{
		`"zeta":{"type":"string","description":"first although last by name"}`,
		`"alpha":{"type":"integer"}`,
		`"mode":{"type":"string","enum":["content","files","count"],"description":"how"}`,
		`"flag":{"type":"boolean"}`,
		`"many":{"type":"array","items":` + innerSchema + `}`,
		`"one":` + innerSchema,
		`"ref":` + innerSchema,
		`"counts":{"type":"object","additionalProperties":{"type":"integer"}}`,
		`"pair":{"type":"array","items":{"type":"string"}}`,
		`"raw":{"description":"anything"}`,
		`"any":{}`,
		`"data":{"type":"string","contentEncoding":"base64"}`,
		`"-":{"type":"string"}`,
		`"NoTag":{"type":"string"}`,
		`"wait":{"type":"integer"}`,
		`"named":{"type":"object","properties":{` + paged + `},"additionalProperties":false}`,
	}, ",") + `},"required":["zeta","many","one","pair","-","NoTag","named"],"additionalProperties":false}`
	if string(got) != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
	if !json.Valid(got) {
		t.Error("not JSON")
	}
	if _, err := (tool.JSONSchema{}).Compile(got); err != nil {
		t.Error(err)
	}
}

// TestSchemaAgreesWithTheDecoder: what the schema of a struct accepts, the decoder takes.
func TestSchemaAgreesWithTheDecoder(t *testing.T) {
	raw := `{"zeta":"z","many":[{"name":"n","score":2}],"one":{"name":"o"},"pair":["a","b"],"-":"d","NoTag":"n",
		"named":{"offset":2},"data":"aGk=","raw":[1],"any":{"a":1},"counts":{"a":200},"wait":5}`
	schema, _ := tool.SchemaOf[everything]()
	check, err := tool.JSONSchema{}.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	if faults := check(decoded(t, raw)); len(faults) > 0 {
		t.Fatal(faults)
	}
	var e everything
	e.private, e.Named.hidden = "not in JSON", 1
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		t.Fatal(err)
	}
	if e.Named.Offset != 2 || string(e.Data) != "hi" || e.Dash != "d" {
		t.Errorf("%+v", e)
	}
}

type node struct {
	Kids []node `json:"kids"`
}

type twice struct {
	A inner `json:"a"`
	B inner `json:"b"`
}

func TestSchemaOfEmptyAndRepeatedStructs(t *testing.T) {
	got, err := tool.SchemaOf[struct{}]()
	if want := `{"type":"object","properties":{},"additionalProperties":false}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := tool.SchemaOf[twice](); err != nil {
		t.Errorf("a type that is used twice is not recursive: %v", err)
	}
}

func TestSchemaOfRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		derive func() (json.RawMessage, error)
		want   string
	}{
		"a map":              {tool.SchemaOf[map[string]string], "no schema"},
		"an embedded struct": {tool.SchemaOf[struct{ Paged }], "write its fields out"},
		"nothing":            {tool.SchemaOf[any], "no schema"},
		"a pointer":          {tool.SchemaOf[*inner], "no schema"},
		"a recursive struct": {tool.SchemaOf[node], "contains itself"},
		"a channel":          {tool.SchemaOf[struct{ C chan int }], "no JSON for chan int"},
		"a function":         {tool.SchemaOf[struct{ F func() }], "no JSON for func()"},
		"a complex number":   {tool.SchemaOf[struct{ C complex128 }], "no JSON"},
		"a time":             {tool.SchemaOf[struct{ T time.Time }], "decodes itself"},
		"an enum of numbers": {tool.SchemaOf[struct {
			N int `enum:"1,2"`
		}], "enum tag is for strings"},
		"a limit of strings": {tool.SchemaOf[struct {
			S string `min:"1"`
		}], "min tag"},
		"a limit in words": {tool.SchemaOf[struct {
			N int `max:"many"`
		}], "max tag"},
		"a limit not in JSON": {tool.SchemaOf[struct {
			N int `max:"0x10"`
		}], "max tag"},
		"numbers in strings": {tool.SchemaOf[struct {
			N int `json:"n,string"`
		}], "option string"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.derive()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, error %v; want it to say %q", got, err, c.want)
			}
		})
	}
	if _, err := tool.SchemaOf[any](); !errors.Is(err, tool.ErrNoSchema) {
		t.Error("no ErrNoSchema")
	}
}

func TestSchemaPathNamesTheField(t *testing.T) {
	type outer struct {
		Deep []struct {
			C chan int `json:"c"`
		} `json:"deep"`
	}
	if _, err := tool.SchemaOf[outer](); err == nil || !strings.HasPrefix(err.Error(), "deep: c: ") {
		t.Errorf("error %v does not lead to the field", err)
	}
}

// What a model is shown leaves out what an answer tells, and what is optional and rare; what
// validates keeps all.
func TestOfferOfAStruct(t *testing.T) {
	type pair struct {
		Old string `json:"old" doc:"as it stands"`
		New string `json:"new" doc:"empty deletes"`
	}
	type args struct {
		Path  string `json:"path" doc:"the path" offer:"plain"`
		Old   string `json:"old,omitempty" doc:"as it stands"`
		Limit int    `json:"limit,omitempty" min:"0" max:"9" doc:"most"`
		Rare  int    `json:"rare,omitempty" doc:"seldom" offer:"-"`
		Must  string `json:"must" doc:"needed" offer:"-"`
		Pairs []pair `json:"pairs,omitempty" doc:"several"`
	}
	got, err := tool.OfferOf[args]()
	const want = `{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string","description":"as it stands"},` +
		`"limit":{"type":"integer","description":"most"},"must":{"type":"string","description":"needed"},` +
		`"pairs":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string","description":"empty deletes"}},` +
		`"required":["old","new"]},"description":"several"}},"required":["path","must"]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	whole, err := tool.SchemaOf[args]()
	for _, part := range []string{`"rare"`, `"minimum":0,"maximum":9`, `"additionalProperties":false`, `"description":"the path"`} {
		if err != nil || !strings.Contains(string(whole), part) {
			t.Errorf("what validates lost %s: %s", part, whole)
		}
	}
}
