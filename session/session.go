// Package session implements a conversation: its log, its loop and its ports.
//
// A Session appends a prompt to its log, asks the Provider, stores the answer, passes each call
// through the tool pipeline, stores the outcomes, and asks again until there are no calls, a stop,
// a budget or an abort. Observers see Events; the Store keeps Entries.
//
// The one rule: an event is emitted only after its entry is stored, or kept by a store that reports
// it as waiting, and every stored call gets exactly one outcome, in this process or when the log is
// loaded again.
//
// Start reading at Prompt, then turn.go, ask.go (one model request; retry.go repeats it) and
// calls.go (its calls). provider.go and store.go are the ports, event.go has the observers' events,
// message.go the stored messages. load.go turns a log into a session, with past.go for usage and
// open calls. person.go has the user's actions during a turn.
//
// offer.go selects the tools in requests; they change only at an Occasion, to keep the provider's
// cached prefix; prefix.go reports a changed prefix, using the hashes in fingerprint.go. ledger.go
// counts the content of requests, budget.go limits a turn, account.go sums up the session's usage.
// A session with ParentBudget is a subagent.
//
// hooks.go runs the user's programs, which may object. note.go adds late texts for the model: a
// folder's instructions, a hook's context, a report. compact.go and summary.go replace the start of
// a long conversation by a summary; a conversation that is still too long ends with CauseContext.
//
// The package is large because its parts work on one log under one rule: they count, compare and
// summarize the entries in the order in which the loop stores them.
//
// Known limits: of a summarized image only the model's text about it is left. The ledger estimates
// tokens from bytes and ignores the pages of documents; the prefix guard compares requests, not the
// provider's actual cache.
package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"adze/internal/text/jsontext"
	"adze/tool"
)

// Config holds a session's dependencies and settings.
type Config struct {
	Identity
	Requests
	Calls
	Storage
	Turns
	Host
}

// Identity identifies a session.
type Identity struct {
	ID    ID
	Start Start // stored first; a resumed session keeps its own System
	// Effort is the reasoning effort, one of Efforts. If empty, a resumed session uses the log's,
	// else the provider's setting applies.
	Effort string
	// Mode is the widest permission mode of the session's calls; "" means the current mode.
	Mode string
}

// Requests configures the model and its requests.
type Requests struct {
	Provider Provider
	Model    string // without the provider's prefix
	// Offer chooses the tools in requests; if nil, all of Tools.
	Offer Offerer
	// Notes returns texts for the model at each prompt and after each answer's calls. They become
	// one message before the next request. It may read files and must end soon after ctx. If nil,
	// notes come only from Session.Note.
	Notes func(ctx context.Context, s Step) []Note
	// Pieces splits a system prompt for the ledger; if nil, it is one piece.
	Pieces func(system string) []Piece
	// Sum is the instruction for a summary; if empty, the session is never compacted.
	Sum string
	// Price returns the cost of one request's tokens in USD, if known; may be nil.
	Price func(provider, model string, u Usage) (usd float64, known bool)
	// Window returns a model's context size in tokens including the answer, or 0 if unknown; may be
	// nil.
	Window func(provider, model string) int
	// RejectsImages reports whether a model is known to take no images; may be nil.
	RejectsImages func(provider, model string) bool
}

// Calls configures the calls of tools.
type Calls struct {
	Tools     *tool.Set
	Gate      tool.Gate
	Clip      tool.Clip
	Mask      func(string) string // hides secrets in results for the model; may be nil
	Snapshots Snapshots           // records files around calls that change them (snapshots.go); may be nil
	Grace     time.Duration       // limit for a call to end after its abort; 0 is the default of tool.Runner
	// Waits is called when a call starts to wait for a user; it returns a function for the end of
	// the wait. It stops the clock of a subagent's parent turn. May be nil.
	Waits func() (over func())
}

// Storage configures the log and its reuse.
type Storage struct {
	Store Store
	// Restorer receives the outcomes of earlier runs on resume; may be nil.
	Restorer Restorer
	// OnResume receives the resumed log's undos and the prompts after them, subagents, reports and
	// related notes, before anything is added; may be nil.
	OnResume  func(log []Entry) error
	CarryOver func(tool.Outcome) (Note, bool) // converts an outcome into a note to keep through compaction; may be nil
}

// Turns configures the limits and checks of turns.
type Turns struct {
	Limits Limits
	// ParentBudget is the budget of a subagent's parent turn, which counts its usage too; else nil.
	ParentBudget *Budget
	// Accept checks the text that a turn would end with; may be nil. A correction goes to the
	// model, which tries again; "" accepts the text. tries counts the turn's earlier corrections.
	// An error ends the turn.
	Accept func(text string, tries int) (correction string, err error)
	// Schema is the JSON Schema that Accept checks; may be nil.
	Schema json.RawMessage
	// Await waits at a turn's end for a note on its way. It returns true when one may have arrived,
	// false when none is expected; may be nil.
	Await func(ctx context.Context) bool
	// Hooks runs the hooks of a moment (hooks.go), from any goroutine, and returns soon after ctx
	// ends; may be nil.
	Hooks  func(ctx context.Context, m Moment) tool.Ruling
	Claims ClaimCheck // checks answers against the calls made (claims.go)
}

// Host connects a session to its program.
type Host struct {
	// Observe receives every event, one at a time, in order. Blocking slows the session; no event
	// is dropped. May be nil.
	Observe func(Event)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Wait sleeps before a retry unless ctx ends first; nil uses a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// A Session is one conversation. Prompt runs one turn at a time. One goroutine may use its methods,
// except for Steer, Note, CancelCall and Call, which are safe for any.
type Session struct {
	config     Config
	runner     *tool.Runner
	tools      []tool.Definition
	digest     string
	offered    []string // tool names, after the first Offer
	history    []Message
	earlier    []Message                    // summarized in earlier runs
	skimmed    int                          // entries of earlier runs, until those are read
	ran        map[tool.CallID]tool.Outcome // the user's own commands in earlier runs
	messages   int                          // number of message ids so far
	started    bool                         // the start entry is stored
	prints     fingerprints
	prefix     prefixGuard
	ledger     ledger
	squeezed   int       // tokens that allow the next compaction
	effort     string    // as in the log
	defaults   *defaults // the regular model while another one answers a turn
	control    control
	plans      plans
	asked      string // the last outcomes message for which notes were requested
	hooks      *hooks
	windows    *windows
	claims     []Claim             // of the last answer
	evidence   []Evidence          // of the last answer
	failed     map[string][]Result // of earlier runs
	mode       string              // chosen in an earlier run
	callers    callers
	watch      sync.Mutex // serializes observer calls
	heldEvents heldEvent
}

// New creates a conversation. Nothing is stored before the first prompt.
func New(c Config) *Session {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wait == nil {
		c.Wait = wait
	}
	s := &Session{config: c, digest: c.Tools.Digest()}
	s.SetEffort(c.Effort)
	s.ledger.provider, s.ledger.model = c.Provider.Name(), c.Model
	s.windows = &windows{keep: c.Snapshots, store: s.store, entry: s.entry, begin: s.beginning, emit: s.emit}
	s.runner = &tool.Runner{
		Gate: c.Gate, Emit: s.onTool, Intent: s.windows.intend, Clip: c.Clip, Mask: c.Mask, Now: c.Now, Grace: c.Grace, Waits: s.waits, OutOfResources: lacking,
		Session: string(c.ID), Agent: c.Start.Agent, Mode: c.Mode,
	}
	if c.Hooks != nil {
		s.listen()
	}
	return s
}

// ID returns the session's id.
func (s *Session) ID() ID { return s.config.ID }

// System returns the system prompt of all requests.
func (s *Session) System() string { return s.config.Start.System }

// History returns the conversation so far. The caller must not change it.
func (s *Session) History() []Message { return s.history }

// Prompt runs one turn: the prompt, then model requests and their calls until the model ends, a
// tool stops the turn, a budget is spent or ctx ends. The last event is TurnEnd with the returned
// result.
func (s *Session) Prompt(ctx context.Context, in Input) Result {
	t, cancel := s.begin(ctx)
	defer cancel()
	s.hooks.greet(t.ctx)
	if err := s.open(t, in); err != nil {
		return s.end(t, err)
	}
	defer s.hooks.notify(HookEnded, "the turn has ended")
	s.control.listen(true)
	defer s.control.listen(false)
	for {
		if err := s.prepare(t); err != nil {
			return s.end(t, err)
		}
		answer, err := s.ask(t)
		if err != nil {
			if err = s.recover(t, err); err != nil {
				return s.end(t, err)
			}
			continue
		}
		t.shrunk, t.cut, t.stumbled = false, false, false
		calls := answer.Calls()
		over := len(calls) == 0
		if !over {
			over, err = s.answer(t, answer.ID, calls)
		}
		if over && err == nil {
			over, err = s.over(t)
		}
		if over && err == nil {
			err = t.unable.all()
		}
		if over || err != nil {
			return s.end(t, err)
		}
	}
}

// prepare counts a step and adds the user's messages so far, also those sent during a compaction.
func (s *Session) prepare(t *turn) error {
	if err := t.step(); err != nil {
		return err
	}
	s.warn(t)
	if err := s.tellNotes(t); err != nil {
		return err
	}
	if err := s.hear(t); err != nil {
		return err
	}
	if err := s.makeRoom(t); err != nil {
		return err
	}
	if err := s.hear(t); err != nil {
		return err
	}
	return s.keepEffort(t)
}

// open stores the prompt, the start entry if it is the first, and the due notes in one commit.
// Without a text the turn begins with the notes alone.
func (s *Session) open(t *turn, in Input) error {
	id, err := s.composed(t, &in)
	if err == nil {
		err = s.hooks.prompted(t.ctx, in)
	}
	if err != nil {
		return err
	}
	var entries []Entry
	if !s.started {
		entries = append(entries, s.entry(StartEntry, s.config.Start))
	}
	notes, any := s.gatherNotes(t.ctx, &in)
	if any {
		entries = append(entries, s.entry(NoteEntry, said(notes)))
	}
	if id == "" {
		id = s.nextID()
	}
	prompt := in.message(id)
	silent := any && in.Text == "" && len(in.Attachments) == 0
	if !silent {
		entries = append(entries, s.entry(MessageEntry, said(prompt)))
	}
	offer, show := s.consider(t.ctx, cmp.Or(in.Words, in.Text))
	if err := s.store(t.ctx, append(entries, offer...)...); err != nil {
		return err
	}
	s.started, t.prompt = true, id
	if any {
		t.result.Notes = notes.Notes
		s.keep(notes)
	}
	if !silent {
		s.keep(prompt)
		if first, history := forgotten(s.history); first >= 0 {
			s.foresee(first, "pictures of long ago were left out")
			s.history = history
		}
	}
	show()
	return nil
}

func (s *Session) nextID() string {
	s.messages++
	return fmt.Sprintf("m%d", s.messages)
}

// errStore marks a failure to save: side effects stop, and the exit code differs.
var errStore = errors.New("the session could not be saved")

func (s *Session) entry(kind EntryType, data any) Entry {
	var texts []*string
	if m, ok := data.(saidMessage); ok {
		texts = m.texts()
	}
	// No HTML escaping: a provider's opaque values must load as stored.
	raw, err := jsontext.Encode(data, texts...)
	if err != nil {
		// Every stored type encodes; a tool's broken metadata was refused before.
		raw, _ = jsontext.Encode(map[string]string{"error": err.Error()})
	}
	return Entry{Type: kind, Time: s.config.Now(), Data: raw}
}
