package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/editors/serve"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// The scenes of the pictures: what a user sees in a day.

const sceneAnswer = "The lock was taken **after** the check, so two workers could both see a free slot. I moved the check below the lock and added a test that fails without it.\n\n" +
	"### What changed\n\n1. `acquire` checks the count while it holds the lock\n2. the new test runs 200 workers at once\n\n" +
	"| run | before | after |\n|:--|--:|--:|\n| 200 workers | 7 failed | 0 failed |\n| 2,000 workers | 61 failed | 0 failed |\n\n" +
	"```go\nfunc (p *Pool) acquire(ctx context.Context) error {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tif p.used >= p.size { // checked under the lock\n\t\treturn ErrFull\n\t}\n\tp.used++\n\treturn nil\n}\n```\n\n" +
	"- [x] the race is gone\n- [x] all tests pass\n- [ ] the same pattern stands in `queue.go`; say if I should mend it, too"

const sceneDiff = "--- a/pool/pool.go\n+++ b/pool/pool.go\n@@ -41,12 +41,13 @@ type Pool struct {\n \n // acquire takes a slot.\n func (p *Pool) acquire(ctx context.Context) error {\n-\tif p.used >= p.size {\n-\t\treturn ErrFull\n-\t}\n \tp.mu.Lock()\n \tdefer p.mu.Unlock()\n+\tif p.used >= p.size { // checked under the lock\n+\t\treturn ErrFull\n+\t}\n \tp.used++\n-\tp.log.Printf(\"slot %d\", p.used)\n+\tp.log.Printf(\"slot %d of %d\", p.used, p.size)\n \treturn nil\n }\n"

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// made is a call that has ended.
func (c *conversation) made(id string, h tool.Heading, status tool.Status, took time.Duration, output string, blocks ...tool.Block) {
	call := tool.CallID(fmt.Sprintf("%s.%s.%d", c.id, id, c.ids))
	c.says(session.Assistant, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: call, Name: id, Arguments: "{}"}})
	o := tool.Outcome{Call: call, Tool: id, Status: status, Heading: h, Output: output, Duration: took, Metadata: encoded(blocks)}
	c.backend.store(c.id, session.OutcomeEntry, o)
	c.who.Observe(session.ToolEnd{Outcome: o})
}

// running is a call that runs and shows something.
func (c *conversation) running(id string, h tool.Heading, blocks ...tool.Block) {
	e := tool.Event{Call: tool.CallID(id), Tool: id, Heading: h}
	c.who.Observe(session.ToolStart{Event: e})
	e.Metadata = encoded(blocks)
	c.who.Observe(session.ToolUpdate{Event: e})
}

func (c *conversation) works() {
	c.says(session.Assistant, session.Part{Kind: session.ReasoningPart, Text: "The count is read before the lock is held. Let me look at `acquire` first."},
		session.Part{Kind: session.TextPart, Text: "I look at how slots are taken."})
	c.made("grep", tool.Heading{Verb: "search", Object: "p.used", Result: "6 matches in 2 files", Shape: tool.OneRow}, tool.Completed, 0, "", tool.List([]string{"pool/pool.go:43", "pool/pool.go:48", "pool/pool_test.go:12"})...)
	c.made("read", tool.Heading{Verb: "read", Object: "pool/pool.go", Result: "92 lines", Shape: tool.OneRow}, tool.Completed, 0, "", tool.Code("pool/pool.go", "package pool\n\n// Pool bounds work.\ntype Pool struct {\n\tmu sync.Mutex\n}\n", 1)...)
	c.made("todowrite", tool.Heading{Verb: "todos", Result: "1 of 3 done", Shape: tool.NoRow}, tool.Completed, 0, "", tool.Checklist([]tool.Item{{Text: "Find where the count is read", State: "completed"}, {Text: "Check it under the lock", State: "in_progress"}, {Text: "Write a test that fails without it", State: "pending"}})...)
	c.made("edit", tool.Heading{Verb: "edit", Object: "pool/pool.go", Result: "+4 −4"}, tool.Completed, 0, "", tool.Diff("pool/pool.go", sceneDiff)...)
}

func testOutput(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "=== RUN   TestPool/worker_%03d\n", i)
	}
	return b.String() + "--- PASS: TestPool (1.84s)\nPASS\nok  \texample.com/pool\t1.902s\n"
}

func cents(c float64) *float64 { return &c }

func (c *conversation) counted(used int, cost float64) {
	c.who.Observe(session.Counted{Ledger: session.Ledger{Model: "anthropic/claude-sonnet-4-5", Estimate: used, Window: 200_000, Cost: &cost}})
}

// sceneTurn does what the words of a prompt name.
func sceneTurn(ctx context.Context, c *conversation, text string) session.Result {
	end := session.Result{Cause: session.CauseDone, Duration: 48 * time.Second, Cost: cents(0.0312), Changed: []string{"pool/pool.go", "pool/pool_test.go"}}
	switch {
	case strings.Contains(text, "race"):
		c.works()
		c.made("bash", tool.Heading{Verb: "$", Object: "go test -race ./pool/...", Note: "Run the tests of the pool", Result: "exit 0", Shape: tool.Live}, tool.Completed, 2100*time.Millisecond, "", tool.Block{Kind: tool.OutputBlock, Text: testOutput(60), Total: 63})
		c.counted(38_400, 0.0312)
		c.answers(sceneAnswer)
		end.Evidence = []session.Evidence{{Kind: session.TestsClaim, Quote: "all tests pass", Text: "go test -race ./pool/..."}}
		return end
	case strings.Contains(text, "stream"):
		c.counted(21_000, 0.011)
		c.who.Observe(session.ReasoningDelta{Message: "live", Delta: "Which of the two is read first?"})
		half := sceneAnswer[:strings.Index(sceneAnswer, "\treturn nil")]
		for i := 0; i < len(half); i += 7 {
			c.who.Observe(session.TextDelta{Message: "live", Delta: half[i:min(i+7, len(half))]})
		}
		<-ctx.Done()
		return session.Sort(context.Cause(ctx))
	case strings.Contains(text, "publish"):
		c.works()
		c.says(session.Assistant, session.Part{Kind: session.TextPart, Text: "The check goes below the lock."}, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: "ask", Name: "edit", Arguments: "{}"}})
		c.who.Observe(session.ToolQueued{Event: tool.Event{Call: "ask", Tool: "edit", Heading: tool.Heading{Verb: "edit", Object: "pool/pool.go"}}})
		_, err := c.who.Ask(ctx, ask.Permission{
			Question: tool.Question{Call: "ask", Tool: tool.Definition{Name: "edit"}, Needs: []tool.Need{{Permission: tool.Write, Target: "pool/pool.go"}}},
			Preview:  tool.Diff("pool/pool.go", sceneDiff), Edits: true, Why: "the mode asks before each edit",
			Offers: []ask.Offer{{Rule: "write(pool/**)", Covers: "changes of all files below pool", Spares: "files elsewhere, and commands"},
				{Rule: "write(**)", Covers: "changes of all files of this folder", Save: "config.json"}},
		})
		if err != nil {
			return session.Sort(context.Cause(ctx))
		}
		return end
	case strings.Contains(text, "build"):
		c.says(session.Assistant, session.Part{Kind: session.TextPart, Text: "I build it first, and let a subagent look for other places with the same mistake."})
		c.running("bash", tool.Heading{Verb: "$", Object: "make release\nmake check", Note: "Build and check the release", Shape: tool.Live}, tool.Block{Kind: tool.OutputBlock, Text: strings.Repeat("cc -O2 -Wall -c src/pool.c -o build/pool.o\n", 8) + "ld build/pool.o build/queue.o -o bin/pool\nchecking bin/pool … ok\n", Total: 4210})
		c.running("task", tool.Heading{Verb: "task", Object: "look for checks outside of a lock"})
		for i, s := range []string{"search Unlock()", "read queue/queue.go", "read cache/cache.go", "$ go vet ./..."} {
			e := tool.Event{Call: tool.CallID(fmt.Sprint("task/", i)), Parent: "task", Agent: "explorer", Tool: "grep", Heading: tool.Heading{Verb: s}}
			c.who.Observe(session.ToolStart{Event: e})
			if i < 3 {
				c.who.Observe(session.ToolEnd{Parent: "task", Agent: "explorer", Outcome: tool.Outcome{Call: e.Call, Status: tool.Completed, Heading: e.Heading}})
			}
		}
		c.counted(52_000, 0.08)
		<-ctx.Done()
		return session.Sort(context.Cause(ctx))
	case strings.Contains(text, "fail"):
		c.says(session.Assistant, session.Part{Kind: session.TextPart, Text: "I run the whole suite."})
		c.made("bash", tool.Heading{Verb: "$", Object: "go test ./...", Result: "exit 1", Shape: tool.Live}, tool.Failed, 5200*time.Millisecond, "exit 1", tool.Block{Kind: tool.OutputBlock, Text: "--- FAIL: TestQueue (0.02s)\n    queue_test.go:31: got 7 workers, want 8\nFAIL\nFAIL\texample.com/queue\t0.4s\n", Total: 4})
		return session.Result{Cause: session.CauseProvider, Message: "The provider refused the request: the quota of this key is used up (429)", Hint: "Wait until 18:00, or choose another model with Alt+M and try again", Duration: 6 * time.Second}
	}
	c.answers("Done.")
	return session.Result{Cause: session.CauseDone, Duration: time.Second, Cost: cents(0.002)}
}

// sceneBackend is a folder with sessions in all states.
func sceneBackend() *backend {
	h := &backend{turn: sceneTurn, status: serve.Status{Model: "anthropic/claude-sonnet-4-5", Folder: "/home/kim/src/pool", Branch: "fix-race", Mode: "ask", Effort: "medium", Sandbox: "full"}}
	h.blocks = func(_ string, raw json.RawMessage) (out []tool.Block) {
		_ = json.Unmarshal(raw, &out)
		return out
	}
	h.ports = api.Ports{
		Modes:   []api.Mode{{Name: "plan", Means: "looks only; nothing changes and no command runs"}, {Name: "ask", Means: "asks before each edit and each command"}, {Name: "edits", Means: "edits files in this folder; asks before commands"}},
		SetMode: func(name string) error { h.mu.Lock(); defer h.mu.Unlock(); h.status.Mode = name; return nil },
		Efforts: []api.Mode{{Name: "low"}, {Name: "high"}}, SetEffort: func(name string) string { return name },
		Models: func(context.Context) ([]api.ModelRow, error) {
			return []api.ModelRow{{Name: "anthropic/claude-sonnet-4-5", Context: 200_000}, {Name: "ollama/qwen3", Why: "ollama does not run"}}, nil
		},
		Files: func(context.Context, func(api.Files)) (api.Files, error) {
			return api.Files{Paths: []string{"pool/", "pool/pool.go", "pool/pool_test.go", "README.md"}, Recent: []string{"pool/pool.go"}}, nil
		},
		PromptHistory: func() []string { return []string{"an older prompt", "the prompt before"} },
		Net: func(context.Context, api.Baseline) (api.Net, error) {
			return api.Net{Baseline: "the beginning of the session", Files: []api.NetFile{{Path: "pool/pool.go", Diff: sceneDiff, Hunks: []api.HunkText{{Text: sceneDiff[strings.Index(sceneDiff, "@@"):], Line: 44}}}}}, nil
		},
		Revert: func(context.Context, api.NetHunk) session.Result { return done() },
		Undo: func(_ context.Context, u api.Undo) (api.UndoResult, error) {
			return api.UndoResult{Turns: []string{"mend the race"}, Paths: []string{"change  pool/pool.go"}}, nil
		},
		Rewind: func(context.Context) (string, error) { return "the last prompt", nil },
	}
	return h
}

// say begins a session with a prompt.
func (s *site) say(h *backend, title, text string) string {
	s.t.Helper()
	h.mu.Lock()
	h.first = title
	h.mu.Unlock()
	id := s.begin()
	s.act(id, "say", map[string]any{"text": text})
	return id
}

// act is what a page does.
func (s *site) act(id, name string, body any) string {
	s.t.Helper()
	code, text := s.get("POST", "/api/page/"+id+"/"+name, string(encoded(body)))
	if code != 200 {
		s.t.Fatalf("%s: %d %s", name, code, text)
	}
	return text
}

// TestPicturesOfThePage draws each state at three widths, dark and light, into the folder
// $ADZE_PICTURES. They are kept in testdata/pictures/page.
func TestPicturesOfThePage(t *testing.T) {
	dir := os.Getenv("ADZE_PICTURES")
	if dir == "" {
		t.Skip("$ADZE_PICTURES names no folder for the pictures")
	}
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	ids := map[string]string{
		"finished":  s.say(h, "Mend the race in the pool", "There is a race in pool.go: two workers get the last slot. Mend it, with a test."),
		"streaming": s.say(h, "Why does the count go wrong?", "Explain it, and stream your answer"),
		"question":  s.say(h, "Publish the pool package", "Prepare it so that I can publish it"),
		"command":   s.say(h, "Build the release", "build the release and check it"),
		"error":     s.say(h, "Run the whole suite", "run everything; it should fail"),
	}
	s.say(h, "Rename Slot to Permit", "rename it")
	page, empty := b.open(s.first()), b.open(listen(t, sceneBackend()).first())
	ready := map[string]string{"finished": ".end", "streaming": ".code", "question": "form.ask", "command": ".steps", "error": ".fail", "overview": "#homelist .row"}
	for _, width := range []int{360, 768, 1280} {
		for theme, dark := range map[string]bool{"light": false, "dark": true} {
			shoot := func(p *tab, name string) {
				p.size(width, map[int]int{360: 740, 768: 1024, 1280: 860}[width], dark)
				p.eval(`new Promise((done) => setTimeout(done, 250))`) // the eye may wait; no check does
				p.shoot(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.webp", name, width, theme)))
			}
			for name, selector := range ready {
				page.eval(`location.hash = "#/` + map[bool]string{true: "", false: "s/" + ids[name]}[name == "overview"] + `"`)
				page.until(`document.querySelector("` + selector + `") && document.querySelector("#list .row")`)
				shoot(page, name)
			}
			empty.until(`document.querySelector("#homelist .welcome")`)
			shoot(empty, "empty")
		}
	}
}

// first is the address that adze serve prints.
func (s *site) first() string { return s.url + "/#" + s.token }
