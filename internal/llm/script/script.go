// Package script replays a written conversation from a txtar file: for tests, the demo and --model
// script/FILE. The model's name is the file's path. Replies are scripted, their tool calls real.
//
// The one rule: a run that differs from its script fails and names the step.
//
// The n-th request gets the n-th step. Steps are numbered files of the archive; the text after the
// number is for readers. A step is a list of lines, each a word and its value. A line that begins
// with a tab or two spaces continues the previous one; # begins a comment.
//
//	# finds and fixes the failing test
//	-- 1 look at the tests --
//	expect prompt: (?i)fix .*test
//	reasoning: The test's name is in the report.
//	text: I will run the tests first.
//	call bash: {"command":"go test ./..."}
//	-- 2 --
//	expect bash completed: --- FAIL: (\w+)
//	save test: --- FAIL: (\w+)
//	call grep: {"pattern":"func ${test}"}
//	call todowrite: {"todos":[
//	  {"id":"1","content":"mend ${test}","status":"in_progress"}]}
//	-- 3 --
//	expect grep: sum_test.go
//	text: Done.
//	usage: input=120 output=8
//
// Words:
//
//	expect prompt: RE        the last message of the user matches the regular expression
//	expect note: RE          the notes since the last answer match
//	expect NAME [STATUS]: RE one of the last outcomes is NAME's (with STATUS) and its output matches
//	expect none:             the last message is the user's
//	save NAME: RE            ${NAME} is the first group of RE in the last outcomes, notes or prompt
//	reasoning: TEXT          thinking; may come more than once, and between texts
//	text: TEXT               the answer; two in one step are joined by a line break
//	call NAME: ARGUMENTS     a call; ${NAME} inside is escaped as in a JSON string
//	usage: input=N output=N cache_read=N cache_write=N reasoning=N
//	stop: length|refused     how the answer ends; otherwise by its calls, or normally
//	fail: KIND MESSAGE       the request fails with this session.ErrorKind after the lines before
//	hold:                    the stream stays open after the lines before, until the user stops it
//	cut:                     the stream breaks after the lines before; its calls are not released
//
// A subagent has its own steps, which begin with its name and are numbered from 1:
//
//	-- explore: find the parser: 1 --
//	call grep: {"pattern":"func parse"}
//
// It also has its own saved values. One without steps gets those of the name before its first colon
// ("-- explore: 1 --"), and one that works for another ("general: mend it › explore: look") those
// of the last name; subagents that share steps take them in order of arrival.
//
// Start reading at Provider.Stream, then parse.go and play.go.
//
// Known limits: only the last results and the last prompt can be expected, nothing earlier.
package script

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// Options configure a provider.
type Options struct {
	// Script is an archive that replaces the file. Name identifies it in errors.
	Script []byte
	Name   string
	// Read reads the requested file; nil means os.ReadFile.
	Read func(name string) ([]byte, error)
	// Pace is the pause between two pieces of text. The demo uses it.
	Pace time.Duration
}

// A Provider plays scripts. It is safe for concurrent use; requests take steps in order of arrival.
type Provider struct {
	options Options

	mu      sync.Mutex
	scripts map[string]*play
}

var _ session.Provider = (*Provider)(nil)

type play struct {
	name  string
	parts map[string]*part // by agent; "" is the main conversation
}

type part struct {
	steps []*step
	next  int
	saved map[string]string
}

// New returns a provider. A file is read at the first request for it.
func New(o Options) *Provider {
	if o.Read == nil {
		o.Read = os.ReadFile
	}
	return &Provider{options: o, scripts: map[string]*play{}}
}

// Name returns "script".
func (p *Provider) Name() string { return "script" }

// Check parses a model's script without playing a step.
func (p *Provider) Check(model string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.load(model)
	return err
}

// Stream plays the next step.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.ChunkSender) (session.Done, error) {
		s, acts, err := p.take(r)
		if err != nil {
			return session.Done{}, err
		}
		a := actor{ctx: ctx, out: out, pace: p.options.Pace, calls: wire.Calls{Mint: s.mint(), History: r.Messages}}
		return a.play(s, acts)
	})
}

// take checks the next step's expectations and returns the step with its filled-in lines.
func (p *Provider) take(r session.Request) (*step, []line, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pl, err := p.load(r.Model)
	if err != nil {
		return nil, nil, err
	}
	of, whose := pl.of(r.Agent), ""
	if r.Agent != "" {
		whose = fmt.Sprintf(" for the subagent %q", r.Agent)
	}
	if of == nil {
		return nil, nil, failure("%s has no step%s", pl.name, whose)
	}
	if of.next >= len(of.steps) {
		return nil, nil, failure("%s has no step %d%s; its last is %d", pl.name, of.next+1, whose, len(of.steps))
	}
	s := of.steps[of.next]
	of.next++
	acts, err := s.meet(situationOf(r.Messages), of.saved)
	if err != nil {
		return nil, nil, failure("%s, step %s: %v", pl.name, s.title, err)
	}
	return s, acts, nil
}

func (p *play) of(agent string) *part {
	if own, ok := p.parts[agent]; ok || agent == "" {
		return own
	}
	path := strings.Split(agent, " › ")
	own := path[len(path)-1]
	if its, ok := p.parts[own]; ok {
		return its
	}
	kind, _, _ := strings.Cut(own, ":")
	return p.parts[kind]
}

func (p *Provider) load(model string) (*play, error) {
	if pl, ok := p.scripts[model]; ok {
		return pl, nil
	}
	name, raw := model, p.options.Script
	if raw == nil {
		var err error
		if raw, err = p.options.Read(model); err != nil {
			return nil, &session.ProviderError{
				Kind: session.NoModelError, Message: fmt.Sprintf("cannot read the script: %v", err),
				Hint: "write --model script/FILE with the path of a script",
			}
		}
	} else if p.options.Name != "" {
		name = p.options.Name
	}
	parts, err := parse(raw)
	if err != nil {
		return nil, failure("%s: %v", name, err)
	}
	pl := &play{name: name, parts: parts}
	p.scripts[model] = pl
	return pl, nil
}

func failure(format string, args ...any) error {
	return &session.ProviderError{
		Kind: session.ReplayError, Message: fmt.Sprintf(format, args...),
		Hint: "the run no longer fits the script; change the one or the other",
	}
}

// situation holds the texts that a step can match.
type situation struct {
	prompt   string
	outcomes []tool.Outcome
	notes    string // since the last answer
}

func situationOf(messages []session.Message) situation {
	var s situation
	for _, m := range messages {
		switch {
		case len(m.Notes) > 0: // accompanies results or a prompt
			s.notes += m.Text()
		case m.Role == session.User:
			s = situation{prompt: m.Text(), notes: s.notes}
		case m.Role == session.Assistant:
			s.outcomes, s.notes = nil, ""
		case m.Role == session.ToolRole:
			for _, p := range m.Parts {
				if p.Outcome != nil {
					s.outcomes = append(s.outcomes, *p.Outcome)
				}
			}
		}
	}
	return s
}

func (s situation) outputs() string {
	var texts []string
	for _, o := range s.outcomes {
		texts = append(texts, o.Output)
	}
	return strings.Join(texts, "\n")
}
