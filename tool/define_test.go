package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"adze/tool"

	"github.com/google/go-cmp/cmp"
)

func TestRegisterFailsClosed(t *testing.T) {
	yes := true
	cases := map[string]struct {
		tool tool.Tool
		want string
	}{
		"empty name":              {say(""), "bad name"},
		"name with a dot":         {say("a.b"), "bad name"},
		"name with a digit":       {say("1a"), "bad name"},
		"name of 65 letters":      {say(strings.Repeat("a", 65)), "bad name"},
		"name with a newline":     {say("a\n"), "bad name"},
		"zero tool":               {tool.Tool{}, "bad name"},
		"no run":                  {say("x", running(nil)), "no Run function"},
		"no redact":               {say("x", func(c *sayConfig) { c.Redact = tool.Redaction{} }), "no Redact"},
		"unknown permission":      {say("x", func(c *sayConfig) { c.Permissions = tool.Requires("fly") }), `unknown permission "fly"`},
		"unknown optional":        {say("x", func(c *sayConfig) { c.Permissions = tool.Permissions{}.MayUse("fly") }), `unknown permission "fly"`},
		"bad alias":               {say("x", func(c *sayConfig) { c.Aliases = []string{"a b"} }), `bad alias "a b"`},
		"alias of itself":         {say("x", func(c *sayConfig) { c.Aliases = []string{"x"} }), `bad alias "x"`},
		"schema is not an object": {say("x", func(c *sayConfig) { c.Parameters = rawJSON(`[]`) }), "not a JSON object"},
		"schema is null":          {say("x", func(c *sayConfig) { c.Parameters = rawJSON(`null`) }), "not a JSON object"},
		"schema is no JSON":       {say("x", func(c *sayConfig) { c.Parameters = rawJSON(`{"type":`) }), "not a JSON object"},
		"schema is empty":         {say("x", func(c *sayConfig) { c.Parameters = rawJSON(``) }), "not a JSON object"},
		"remote ref":              {say("x", func(c *sayConfig) { c.Parameters = rawJSON(`{"properties":{"a":{"$ref":"https://e.org/x"}}}`) }), "schema/properties/a/$ref: reference https://e.org/x is not local"},
		"remote dynamic ref":      {say("x", func(c *sayConfig) { c.Parameters = rawJSON(`{"$dynamicRef":"x#y"}`) }), "not local"},
		"circular ref":            {say("x", func(c *sayConfig) { c.Parameters = rawJSON(`{"$ref":"#"}`) }), "go in a circle"},
		"remote provider ref":     {say("x", func(c *sayConfig) { c.ProviderSchema = rawJSON(`{"$ref":"x.json"}`) }), "provider schema: schema/$ref"},
		"mode without allow":      {say("x", func(c *sayConfig) { c.NoSchemaMode = tool.NoSchemaFull }), "AllowNoSchema and NoSchemaMode go together"},
		"allow without mode":      {say("x", func(c *sayConfig) { c.AllowNoSchema = true }), "AllowNoSchema and NoSchemaMode go together"},
		"unknown mode":            {say("x", func(c *sayConfig) { c.AllowNoSchema, c.NoSchemaMode = true, "sometimes" }), "unknown NoSchemaMode"},
		"no schema but schema":    {say("x", func(c *sayConfig) { c.AllowNoSchema, c.NoSchemaMode, c.Parameters = true, "full", rawJSON(`{}`) }), "drop one of them"},
		"argument alias": {say("x", func(c *sayConfig) { c.Compat.Args = map[string]string{"message": "txt"} }),
			`argument alias "message" stands for "txt", which is not a property`},
		"argument alias of a real name": {say("x", func(c *sayConfig) { c.Compat.Args = map[string]string{"times": "text"} }),
			`argument alias "times" is a property`},
		"strict is no reason": {say("x", func(c *sayConfig) { c.Strict = &yes; c.Redact = tool.Redaction{} }), "no Redact"},
		"args without schema": {tool.Define("x", tool.Config[map[string]any, sayMeta]{
			Redact: tool.Expose(),
			Run: func(context.Context, tool.Context[sayMeta], map[string]any) (tool.Result[sayMeta], error) {
				return tool.Result[sayMeta]{}, nil
			},
		}), tool.ErrNoSchema.Error()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var r tool.Registry
			err := r.Register(c.tool)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want it to say %q", err, c.want)
			}
			if set, err := r.Tools(t.Context(), tool.Init{}); err != nil || len(set.Names()) != 0 {
				t.Errorf("a refused tool is in the set: %v, %v", set.Names(), err)
			}
		})
	}
}

func TestRegisterNamesAllFaultsAtOnce(t *testing.T) {
	var r tool.Registry
	err := r.Register(say("x", running(nil), func(c *sayConfig) {
		c.Redact, c.Parameters, c.Aliases = tool.Redaction{}, rawJSON(`[]`), []string{"!"}
	}))
	for _, want := range []string{"no Run", "no Redact", "not a JSON object", "bad alias"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestRegisterRefusesDuplicate(t *testing.T) {
	var r tool.Registry
	if err := errors.Join(r.Register(say("x")), r.Register(say("y"))); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(say("x")); err == nil || !strings.Contains(err.Error(), "registered already") {
		t.Errorf("error %v", err)
	}
	if !r.Unregister("x") || r.Unregister("x") {
		t.Error("Unregister reports the wrong thing")
	}
	if err := r.Register(say("x")); err != nil {
		t.Errorf("after Unregister: %v", err)
	}
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"y", "x"}, set.Names()); diff != "" {
		t.Error(diff)
	}
}

func TestDefineFuncIsCheckedWhenInitialised(t *testing.T) {
	lazy := func(c sayConfig, err error) tool.Tool {
		return tool.DefineFunc("lazy", func(context.Context, tool.Init) (sayConfig, error) { return c, err })
	}
	broken := errors.New("the server is away")
	for name, c := range map[string]struct {
		tool tool.Tool
		want string
	}{
		"nothing declared": {lazy(sayConfig{}, nil), "no Redact"},
		"init failed":      {lazy(sayConfig{}, broken), "tool lazy: initialise: the server is away"},
		"unknown variable": {lazy(sayConfig{Redact: tool.Expose(), Description: "${nope}",
			Run: func(context.Context, tool.Context[sayMeta], sayArgs) (r tool.Result[sayMeta], err error) { return }}, nil), "unknown variable ${nope}"},
	} {
		t.Run(name, func(t *testing.T) {
			var r tool.Registry
			if err := r.Register(c.tool); err != nil {
				t.Fatalf("Register initialised it: %v", err)
			}
			_, err := r.Tools(t.Context(), tool.Init{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want it to say %q", err, c.want)
			}
			if _, ok := r.Get("lazy"); ok || len(r.Enabled(tool.Read)) != 0 {
				t.Error("a tool that cannot be initialised is handed out")
			}
		})
	}
	if _, err := func() (*tool.Set, error) {
		var r tool.Registry
		_ = r.Register(lazy(sayConfig{}, broken))
		return r.Tools(t.Context(), tool.Init{})
	}(); !errors.Is(err, broken) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestDefinitionKeepsTheAuthorsBytes(t *testing.T) {
	schema := "{ \"type\" : \"object\",\n  \"properties\":{\"b\":{},\"a\":{\"const\": 1.0}} , \"x-é\": \"<&>\"}"
	offered := `{"type":"object"  }`
	set := setOf(t, say("x", func(c *sayConfig) { c.Parameters, c.ProviderSchema = rawJSON(schema), rawJSON(offered) }))
	d, _ := set.Get("x")
	if string(d.Parameters) != schema || string(d.ProviderSchema) != offered || string(d.Offered()) != offered {
		t.Errorf("parameters %s, provider schema %s, offered %s", d.Parameters, d.ProviderSchema, d.Offered())
	}
	plain, _ := setOf(t, say("x")).Get("x")
	if plain.Type != "function" || len(plain.Offered()) == 0 || len(plain.Offered()) >= len(plain.Parameters) {
		t.Errorf("a plain tool offers %s of type %s", plain.Offered(), plain.Type)
	}
}

// rich is a tool that uses every field of a definition.
func rich(change func(*sayConfig)) tool.Tool {
	strict := true
	return say("rich", func(c *sayConfig) {
		c.Description = "d"
		c.Parameters, c.ProviderSchema = rawJSON(`{"type":"object"}`), rawJSON(`{"type":"object"}`)
		c.Permissions = tool.Requires(tool.Read).MayUse(tool.Network)
		c.Tags, c.Roles, c.Aliases = []string{"t"}, []string{"r"}, []string{"al"}
		c.Safety = tool.Safety{Safe: true, ThreatLevel: "low"}
		c.Capabilities = tool.Capabilities{Streaming: true}
		c.CostClass, c.Strict = "cheap", &strict
		if change != nil {
			change(c)
		}
	})
}

func TestDefinitionsAreCopies(t *testing.T) {
	set := setOf(t, rich(nil))
	before := spelled(t, must(set.Get("rich")))
	change := func(d tool.Definition) {
		d.Parameters[2], d.ProviderSchema[2] = 'X', 'X'
		d.Tags[0], d.Roles[0], d.Aliases[0] = "X", "X", "X"
		d.Permissions.Required[0], d.Permissions.Optional[0] = tool.Execute, tool.Execute
		*d.Strict = false
	}
	for name, handOut := range map[string]func(){
		"Get":         func() { change(must(set.Get("rich"))) },
		"Definitions": func() { change(set.Definitions()[0]) },
		"Only":        func() { set.Only(func(d tool.Definition) bool { change(d); return true }) },
		"the gate": func() {
			r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
				change(q.Tool)
				return tool.Decision{}, nil
			})}
			r.Exec(t.Context(), hydrateOne(t, r, set, `{}`))
		},
	} {
		handOut()
		if diff := cmp.Diff(before, spelled(t, must(set.Get("rich")))); diff != "" {
			t.Fatalf("%s hands out the original:\n%s", name, diff)
		}
	}
}

// spelled writes a definition out, so that nothing of it can change afterwards.
func spelled(t testing.TB, d tool.Definition) string {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func must(d tool.Definition, ok bool) tool.Definition {
	if !ok {
		panic("no such definition")
	}
	return d
}

func TestDefineFreezesTheConfig(t *testing.T) {
	strict := true
	c := sayConfig{
		Parameters: rawJSON(`{"type":"object","properties":{"text":{}}}`), Tags: []string{"t"}, Aliases: []string{"al"}, Strict: &strict,
		Compat: tool.Compat{Args: map[string]string{"message": "text"}}, Redact: tool.Expose(),
		Permissions: tool.Permissions{Required: []tool.Permission{tool.Read}},
		Run: func(context.Context, tool.Context[sayMeta], sayArgs) (r tool.Result[sayMeta], err error) {
			return
		},
	}
	var r tool.Registry
	if err := r.Register(tool.Define("x", c)); err != nil {
		t.Fatal(err)
	}
	before := spelled(t, must(r.Get("x")))
	c.Parameters[2], c.Tags[0], c.Aliases[0], strict, c.Permissions.Required[0] = 'X', "X", "X", false, tool.Write
	c.Compat.Args["text"] = "message"
	if diff := cmp.Diff(before, spelled(t, must(r.Get("x")))); diff != "" {
		t.Error(diff)
	}
}

func TestDigestFollowsEveryField(t *testing.T) {
	digest := func(change func(*sayConfig)) string { return must(setOf(t, rich(change)).Get("rich")).Digest }
	base := digest(nil)
	if base != digest(nil) || len(base) != 64 {
		t.Fatalf("the digest is not stable: %s, %s", base, digest(nil))
	}
	no := false
	seen := map[string]string{base: "nothing"}
	for name, change := range map[string]func(*sayConfig){
		"description":       func(c *sayConfig) { c.Description = "e" },
		"parameters":        func(c *sayConfig) { c.Parameters = rawJSON(`{"type":"object","title":"x"}`) },
		"parameters' bytes": func(c *sayConfig) { c.Parameters = rawJSON(`{"type": "object"}`) },
		"provider schema":   func(c *sayConfig) { c.ProviderSchema = rawJSON(`{}`) },
		"provider bytes":    func(c *sayConfig) { c.ProviderSchema = rawJSON(`{"type": "object"}`) },
		"no provider":       func(c *sayConfig) { c.ProviderSchema = nil },
		"required":          func(c *sayConfig) { c.Permissions.Required = []tool.Permission{tool.Write} },
		"optional":          func(c *sayConfig) { c.Permissions.Optional = nil },
		"tags":              func(c *sayConfig) { c.Tags = []string{"t", "u"} },
		"roles":             func(c *sayConfig) { c.Roles = nil },
		"aliases":           func(c *sayConfig) { c.Aliases = []string{"other"} },
		"safe":              func(c *sayConfig) { c.Safety.Safe = false },
		"threat":            func(c *sayConfig) { c.Safety.ThreatLevel = "high" },
		"approval":          func(c *sayConfig) { c.Safety.RequiresApproval = true },
		"capabilities":      func(c *sayConfig) { c.Capabilities.Background = true },
		"cost":              func(c *sayConfig) { c.CostClass = "dear" },
		"strict":            func(c *sayConfig) { c.Strict = &no },
		"strict unset":      func(c *sayConfig) { c.Strict = nil },
		"no schema":         func(c *sayConfig) { c.Parameters = nil; c.AllowNoSchema, c.NoSchemaMode = true, "full" },
		"no schema, asked":  func(c *sayConfig) { c.Parameters = nil; c.AllowNoSchema, c.NoSchemaMode = true, "human-approval" },
	} {
		d := digest(change)
		if other, dup := seen[d]; dup {
			t.Errorf("changing %s gives the digest of %s", name, other)
		}
		seen[d] = name
	}
}

func TestDescriptionVariables(t *testing.T) {
	describe := func(text string, vars map[string]string) (string, error) {
		var r tool.Registry
		if err := r.Register(say("x", func(c *sayConfig) { c.Description = text })); err != nil {
			return "", err
		}
		set, err := r.Tools(t.Context(), tool.Init{Workspace: "/ws", Directory: "/dir", Cwd: "/cwd", Vars: vars})
		if err != nil {
			return "", err
		}
		return must(set.Get("x")).Description, nil
	}
	for text, want := range map[string]string{
		"plain":                             "plain",
		"${workspace} ${directory} ${cwd}.": "/ws /dir /cwd.",
		"at most ${lines} lines":            "at most 7 lines",
		"$HOME $5 $ $$ {x} ${lines}$":       "$HOME $5 $ $$ {x} 7$",
		"write $${HOME} literally":          "write ${HOME} literally",
		"${nested}":                         "${lines}",
		"":                                  "",
		"trailing $":                        "trailing $",
	} {
		got, err := describe(text, map[string]string{"lines": "7", "nested": "${lines}"})
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	if got, _ := describe("${cwd}", map[string]string{"cwd": "mine"}); got != "mine" {
		t.Errorf("Vars do not win over a directory: %q", got)
	}
	for _, text := range []string{"${a} and ${b}", "${}", "open ${lines"} {
		if got, err := describe(text, map[string]string{"lines": "7"}); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
	if _, err := describe("${a} ${b}", nil); err == nil || !strings.Contains(err.Error(), "${a}") || !strings.Contains(err.Error(), "${b}") {
		t.Errorf("not all unknown variables are named: %v", err)
	}
}

func TestDefinitionIsCanonicalJSON(t *testing.T) {
	raw, err := json.Marshal(must(setOf(t, rich(nil)).Get("rich")))
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"type", "name", "description", "parameters", "provider_schema", "strict", "safety", "capabilities",
		"tags", "roles", "aliases", "permissions", "cost_class", "digest"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("no %s in %s", key, raw)
		}
	}
}
