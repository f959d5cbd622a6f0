package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/testkit/mcptest"
	"adze/tool"
)

// asking is a pool whose servers may ask the user, whose answers count.
func asking(t *testing.T, how string, answered *atomic.Int64, change func(*Options)) *Pool {
	return seen(t, map[string]string{"fake": how}, func(o *Options) {
		o.Client = func(_ string, c *sdk.ClientOptions) {
			c.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
			c.ElicitationHandler = func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				answered.Add(1)
				return &sdk.ElicitResult{Action: "decline"}, nil
			}
		}
		if change != nil {
			change(o)
		}
	})
}

// TestAServerThatAsksForEverEndsItsCall, with a reason, whatever it asks; the next call goes
// through.
func TestAServerThatAsksForEverEndsItsCall(t *testing.T) {
	for what, want := range map[string]string{
		`elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}`:                        "more than 30 times",
		`sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"hello"}}],"maxTokens":10}`: "more than 1000 times",
		"ping":       "more than 1000 times",
		"roots/list": "more than 1000 times",
	} {
		var answered atomic.Int64
		b := newBench(t, asking(t, "old", &answered, nil))
		args, _ := json.Marshal(map[string]string{"text": "loop " + what})
		o := b.call(t.Context(), "fake_echo", string(args))
		if o.Status != tool.Failed || !strings.Contains(o.Output, want) || answered.Load() > 2*maxQuestions { // a few more, until it hears that the call is over
			t.Errorf("%s: %s %q, %d answers", what, o.Status, o.Output, answered.Load())
		}
		if o := b.call(t.Context(), "fake_echo", `{"text":"after that"}`); o.Status != tool.Completed {
			t.Errorf("%s: %s %q", what, o.Status, o.Output)
		}
	}
}

// TestAServerThatAsksOnIsEnded: behind its call as well, and the next call starts it anew.
func TestAServerThatAsksOnIsEnded(t *testing.T) {
	var answered atomic.Int64
	p := asking(t, "old", &answered, nil)
	b := newBench(t, p)
	if o := b.call(t.Context(), "fake_echo", `{"text":"for ever elicitation/create {\"message\":\"m\"}"}`); o.Status != tool.Failed {
		t.Errorf("%s %q", o.Status, o.Output)
	}
	waitFor(t, func() bool { return p.States()[0].State == Failed })
	if why := p.States()[0].Reason; !strings.Contains(why, "more than 30 times while no call of it ran") {
		t.Error(why)
	}
	if o := b.call(t.Context(), "fake_echo", `{"text":"after that"}`); o.Status != tool.Completed || answered.Load() > 2*maxQuestions {
		t.Errorf("%s %q, %d answers", o.Status, o.Output, answered.Load())
	}
}

// TestAServerMayNotAskTheModel: it is told so in words, and its call goes on.
func TestAServerMayNotAskTheModel(t *testing.T) {
	b := newBench(t, seen(t, map[string]string{"fake": "old"}, nil))
	b.wants(t, "echo", `{"text":"ask sampling/createMessage {\"messages\":[],\"maxTokens\":10}"}`, tool.Completed, "adze lets no server ask its model")
	b.wants(t, "echo", `{"text":"capabilities"}`, tool.Completed, `{"roots":{}}`)
}

// TestAnAnswerThatIsTooLongToBeReadIsAnError of its call, and the server stays.
func TestAnAnswerThatIsTooLongToBeReadIsAnError(t *testing.T) {
	p := seen(t, map[string]string{"fake": "old"}, nil)
	b := newBench(t, p)
	b.wants(t, "echo", `{"text":"long 9000000"}`, tool.Failed, "more than 8 MB")
	starts := p.States()[0].Starts
	b.wants(t, "echo", `{"text":"after that"}`, tool.Completed, "after that")
	if p.States()[0].Starts != starts {
		t.Error("the server was started anew")
	}
}

// TestACallThatWaitsForAUser gets its whole time behind that, and none of it is used up meanwhile.
func TestACallThatWaitsForAUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Servers: []Server{{Name: "fake"}}})
		defer p.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		w := watch{show: func(string) {}, waits: func() func() { return func() {} }}
		_, end := p.servers["fake"].calls.begin(&runningCall{watch: w, limit: time.Hour, end: cancel})
		defer end()
		first, second := p.Waits("fake"), p.Waits("fake")
		time.Sleep(2 * time.Hour)
		first()
		time.Sleep(2 * time.Hour)
		second()
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
		time.Sleep(time.Hour)
		if context.Cause(ctx) != errNoSign {
			t.Error(context.Cause(ctx))
		}
	})
}

func TestAServerIsToldTheFoldersOfTheRun(t *testing.T) {
	var answered atomic.Int64
	p := asking(t, "old", &answered, func(o *Options) {
		if o.Dir += "/a b"; os.MkdirAll(o.Dir, 0o700) != nil {
			t.Fatal(o.Dir)
		}
	})
	b := newBench(t, p)
	if o := b.call(t.Context(), "fake_echo", `{"text":"ask roots/list"}`); !strings.Contains(o.Output, `"uri":"file://`+strings.ReplaceAll(p.opts.Dir, " ", "%20")+`"`) || !strings.Contains(o.Output, `"name":"a b"`) {
		t.Errorf("%q", o.Output)
	}
	if o := b.call(t.Context(), "fake_echo", `{"text":"capabilities"}`); !strings.Contains(o.Output, `"roots":{}`) {
		t.Errorf("%q", o.Output)
	}
	// A server whose arguments name folders uses those.
	dir := t.TempDir()
	p = asking(t, "old", &answered, func(o *Options) {
		o.Servers[0].Command = append([]string{"sh", "-c", `exec "$2" "$3" "$4"`, "sh", dir}, o.Servers[0].Command...)
	})
	b = newBench(t, p)
	if o := b.call(t.Context(), "fake_echo", `{"text":"capabilities"}`); strings.Contains(o.Output, `roots`) {
		t.Errorf("%q", o.Output)
	}
}

// TestALongAnswerIsOne: it is read whole, and the server stays.
func TestALongAnswerIsOne(t *testing.T) {
	p := seen(t, map[string]string{"fake": "old"}, nil)
	b := newBench(t, p)
	o := b.call(t.Context(), "fake_echo", `{"text":"long 7000000"}`)
	if o.Status != tool.Completed || !strings.Contains(o.Output, "xxx") {
		t.Errorf("%s, %d bytes, …%.200s", o.Status, len(o.Output), o.Output[max(0, len(o.Output)-200):])
	}
	if o := b.call(t.Context(), "fake_echo", `{"text":"after that"}`); o.Status != tool.Completed || p.States()[0].Starts != 1 && p.States()[0].Starts != 2 {
		t.Errorf("%s %q %+v", o.Status, o.Output, p.States()[0])
	}
}

// TestALongListOfToolsIsCut: those that fit are there, and what was left out is told.
func TestALongListOfToolsIsCut(t *testing.T) {
	p := pool(t, map[string]string{"fake": "old; many 50000"}, nil)
	if err := p.Await(t.Context(), "fake"); err != nil {
		t.Fatal(err)
	}
	if l := p.server("fake").current; len(l.Tools) != maxTools || l.MissingReason == "" {
		t.Errorf("%d tools, %q", len(l.Tools), l.MissingReason)
	}
	big := `{"name":"big","description":"` + strings.Repeat("d", 7<<20) + `","inputSchema":{"type":"object"}}`
	file := filepath.Join(t.TempDir(), "tools")
	one := strings.Replace(mcptest.Echo, `"echo"`, `"one"`, 1)
	if err := os.WriteFile(file, []byte(one+"\n"+big+"\n"+mcptest.Echo), 0o600); err != nil {
		t.Fatal(err)
	}
	p = pool(t, map[string]string{"fake": "old; tools from " + file}, nil)
	if err := p.Await(t.Context(), "fake"); err != nil {
		t.Fatal(err)
	}
	if l := p.server("fake").current; len(l.Tools) != 3 || l.MissingReason != "" {
		t.Errorf("%d tools, %q", len(l.Tools), l.MissingReason)
	}
}

// TestOneBadToolLeavesTheOthers: they are used, and it is told why that one is not.
func TestOneBadToolLeavesTheOthers(t *testing.T) {
	b := newBench(t, seen(t, map[string]string{"fake": `old; tool {"name":7,"inputSchema":{}}; tool {"name":"odd","inputSchema":{"type":"object"},"annotations":[]}; tool ` + mcptest.Echo}, nil))
	b.wants(t, "echo", `{"text":"hello"}`, tool.Completed, "hello")
	if all := strings.Join(b.problems, "\n"); len(b.problems) != 2 || !strings.Contains(all, "the tool tool-1 is left out: it cannot be read") || !strings.Contains(all, "the tool odd is left out: it cannot be read") {
		t.Error(all)
	}
}
