package serve_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// spoken is what the tree for assistive technology has below an element: roles with their names.
func (p *tab) spoken(selector string) string {
	p.Browser.T.Helper()
	var node struct{ Result struct{ ObjectID string } }
	var tree struct {
		Nodes []struct {
			NodeID   string
			ChildIDs []string
			Ignored  bool
			Role     struct{ Value string }
			Name     struct{ Value string }
		}
	}
	read := func(raw json.RawMessage, to any) {
		if err := json.Unmarshal(raw, to); err != nil {
			p.Browser.T.Fatal(err)
		}
	}
	var described struct{ Node struct{ BackendNodeID int } }
	read(p.Browser.Call(p.ID, "Runtime.evaluate", map[string]any{"expression": `document.querySelector("` + selector + `")`}), &node)
	read(p.Browser.Call(p.ID, "DOM.describeNode", map[string]any{"objectId": node.Result.ObjectID}), &described)
	var part struct{ Nodes []struct{ NodeID string } }
	read(p.Browser.Call(p.ID, "Accessibility.getPartialAXTree", map[string]any{"backendNodeId": described.Node.BackendNodeID, "fetchRelatives": false}), &part)
	read(p.Browser.Call(p.ID, "Accessibility.getFullAXTree", map[string]any{}), &tree)
	at := map[string]int{}
	for i, n := range tree.Nodes {
		at[n.NodeID] = i
	}
	var b strings.Builder
	var walk func(id string)
	walk = func(id string) {
		i, there := at[id]
		if !there {
			return
		}
		n := tree.Nodes[i]
		if role := n.Role.Value; !n.Ignored && n.Name.Value != "" && !slices.Contains([]string{"StaticText", "InlineTextBox", "ListMarker"}, role) {
			b.WriteString(role + ": " + n.Name.Value + "\n")
		}
		for _, c := range n.ChildIDs {
			walk(c)
		}
	}
	if len(part.Nodes) > 0 {
		walk(part.Nodes[0].NodeID)
	}
	return b.String()
}

// TestWhatAScreenReaderSays of a question, a running command and a finished turn; and the live
// region says a change of state once, and nothing of what streams.
func TestWhatAScreenReaderSays(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	page := b.open(s.first())
	for _, sc := range []struct {
		id, ready, of string
		says          []string // in this order
	}{
		{s.say(h, "Publish", "publish it"), "form.ask", "form.ask", []string{"form: Allow edit?", "heading: Allow edit?", "DisclosureTriangle: Allow it as a rule",
			"button: Allow once", "button: Deny", "button: Allow all edits of this session", "textbox: Why not"}},
		{s.say(h, "Build", "build it"), ".steps", ".call.running", []string{"group: running $ make release … 2 lines"}},
		{s.say(h, "Mend the race", "There is a race"), ".end", ".turn", []string{"heading: You", "DisclosureTriangle: Thought", "DisclosureTriangle: done search p.used 6 matches in 2 files",
			"group: done edit pool/pool.go", "group: done $ go test -race ./pool/...", "searchbox: Find in this output", "heading: What changed",
			"columnheader: run", "button: Copy", "button: Review changes", "button: Undo"}},
	} {
		page.visit(sc.id, sc.ready, "")
		said := page.spoken(sc.of)
		for rest, lines := said, sc.says; len(lines) > 0; lines = lines[1:] {
			_, after, found := strings.Cut("\n"+rest, "\n"+lines[0]+"\n")
			if !found {
				t.Errorf("%s is not said, or not in its place:\n%s", lines[0], said)
				break
			}
			rest = after
		}
	}

	// A screen reader hears each change of state once, while a turn runs, asks and ends.
	page.eval(`window.said = []; for (const e of document.querySelectorAll("[role=status], [role=alert], [aria-live]")) new MutationObserver(() => { if (e.textContent) said.push(e.textContent) }).observe(e, {childList: true, characterData: true, subtree: true})`)
	page.send("publish it")
	page.until(`document.querySelector("form.ask")`)
	page.until(`said.at(-1)?.startsWith("adze asks you something")`)
	page.eval(`document.querySelector("form.ask .main").click()`)
	page.until(`said.at(-1) === "adze has finished"`)
	if got := page.eval(`String(said.length <= 5 && said.every((text, i) => text !== said[i - 1] && /^adze (works|asks you something: Alt\+A goes to it|has finished)$/.test(text)))`); got != "true" {
		t.Errorf("the page said %s", page.eval(`said.join("; ")`))
	}
	b.quiet()
}
