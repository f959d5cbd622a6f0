// Package session is a conversation: its log, its loop and its ports.
//
// A Session appends a prompt to its log, asks the Provider, stores the answer, passes each call
// through the tool pipeline, stores each outcome, and asks again until there are no calls, a stop,
// a budget or an abort. Observers see Events; the Store keeps Entries.
//
// The one rule: an event is emitted only after its entry is stored, or kept by a store that says
// that it waits, and every call that was stored gets exactly one outcome, in this process or when
// the log is loaded again.
//
// Start reading at Prompt, then turn.go, ask.go (one model request, which retry.go makes again) and
// calls.go (its calls). provider.go and store.go are the ports, event.go what observers get,
// message.go what is stored and sent, load.go how a log becomes a session again, person.go what a
// user does while a turn runs.
//
// offer.go holds which tools requests show; they change only at an Occasion, so that the provider's
// cached prefix lasts; prefix.go tells when it did not, by what fingerprint.go keeps of the last
// request. ledger.go counts what fills a request, budget.go what a turn may use, account.go what
// the session used: a session with a Within works for the turn of another one, as a subagent.
// past.go finds all this in a log, and settles what a process left open.
//
// hooks.go tells programs of the user's what happens, and hears what they object to. note.go is
// how anybody else tells the model something late: a folder's instructions, a hook's context, a
// report.
//
// compact.go keeps a conversation within the model's context: a summary (summary.go) takes the
// place of its beginning. What does not fit even so ends with CauseContext.
//
// The package has more than twelve files because its parts work on one log under one rule: what is
// counted, compared and summed up is what the loop stores, in the order in which it stores it.
//
// Known limits: of a picture that was summed up, only what the model wrote about it is left. The
// ledger estimates tokens from bytes and counts no pages of a document; the prefix guard compares
// what is sent, not what a provider still has in its cache.
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

// Config is what a session works with.
type Config struct {
	Identity
	Requests
	Calls
	Storage
	Turns
	Host
}

// Identity says which conversation a session is.
type Identity struct {
	ID    ID
	Start Start // stored first; a resumed session keeps its own System
	// Effort is how hard the model is to think, one of Efforts; if empty, as the log of a resumed
	// session says, else as the provider is configured.
	Effort string
	// Mode is the widest permission mode for its calls, whatever is in force; if empty, the one in
	// force.
	Mode string
}

// Requests is what a model is asked, and which one.
type Requests struct {
	Provider Provider
	Model    string // without the provider's prefix
	// Offer chooses the tools that requests show; if nil, all of Tools.
	Offer Offerer
	// Notes is asked at each prompt and after each answer's calls: what it returns is said to the
	// model before the next request, as one message. It may read files, and ends soon after ctx does.
	// If nil, only Session.Note hands some in.
	Notes func(ctx context.Context, s Step) []Note
	// Pieces tells the parts of a system prompt apart, for the ledger; if nil, it is one.
	Pieces func(system string) []Piece
	// Sum is the instruction with which the model is asked to sum the conversation up; if empty, it is
	// never compacted.
	Sum string
	// Price tells what the tokens of one request cost in USD, and whether that is known; if nil, it
	// never is.
	Price func(provider, model string, u Usage) (usd float64, known bool)
	// Window tells how many tokens a model takes, its answer included; if 0, not known. If nil, it
	// never is.
	Window func(provider, model string) int
	// Blind reports a model that is known to take no pictures; if nil, it is not known of any.
	Blind func(provider, model string) bool
}

// Calls is how calls of tools run.
type Calls struct {
	Tools     *tool.Set
	Gate      tool.Gate
	Clip      tool.Clip
	Mask      func(string) string // hides secrets in what calls give the model; if nil, nothing is hidden
	Snapshots Snapshots           // keeps the files around calls that change them (snapshots.go); if nil, nobody does
	Grace     time.Duration       // how long a call may take to end after its abort; if 0, that of tool.Runner
	// Waits is called when a call of this session begins to wait for a user, and what it returns when
	// that is over: it is for the turn that a subagent works for. If nil, nobody counts.
	Waits func() (over func())
}

// Storage is where the log is, and what of it is used again.
type Storage struct {
	Store Store
	// Restorer takes what outcomes of earlier runs hold, when a session is gone on with; if nil,
	// nobody does.
	Restorer Restorer
	// Found sees what the log of a session that is gone on with holds of undos and the prompts behind
	// them, of subagents, of reports and of the notes that may tell of them, before anything is added;
	// if nil, nobody looks.
	Found func(log []Entry) error
	Kept  func(tool.Outcome) (Note, bool) // which outcome a compaction says again, as a note; if nil, none
}

// Turns is what bounds and judges a turn.
type Turns struct {
	Limits Limits
	// Within is the budget of the turn that a subagent works for: what it uses counts there, too. If
	// nil, for nobody.
	Within *Budget
	// Accept judges the text that a turn would end with; if nil, every text is accepted. What it
	// returns is told to the model, which tries again; nothing: the text is accepted. tries counts the
	// earlier ones of the turn. An error ends the turn.
	Accept func(text string, tries int) (correction string, err error)
	// Schema is the JSON Schema that Accept goes by; if nil, there is none.
	Schema json.RawMessage
	// Await waits, when a turn would end, for a note that is on its way, and returns when one may have
	// come; if false, none is on its way any more. If nil, a turn waits for none.
	Await func(ctx context.Context) bool
	// Hooks tells programs of a moment (hooks.go), from any goroutine, and returns soon after ctx
	// ends; if nil, there are none.
	Hooks  func(ctx context.Context, m Moment) tool.Ruling
	Claims ClaimCheck // compares an answer with what was done (claims.go)
}

// Host is what a session finds in the program that it is part of.
type Host struct {
	// Observe sees every event, one at a time, in order. It may block: that slows the session, nothing
	// is dropped. If nil, nobody watches.
	Observe func(Event)
	// Now is the clock; if nil, time.Now.
	Now func() time.Time
	// Wait sleeps before a request is made again, unless ctx ends first; if nil, a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Session is one conversation. Prompt runs one turn at a time; its methods are for one goroutine,
// but Steer, Note, CancelCall and Call are for any.
type Session struct {
	config   Config
	runner   *tool.Runner
	tools    []tool.Definition
	digest   string
	offered  []string // names of tools, once an Offer was made
	history  []Message
	earlier  []Message                    // summed up in earlier runs
	skimmed  int                          // entries of earlier runs, before those were read
	ran      map[tool.CallID]tool.Outcome // the user's own commands of earlier runs
	messages int                          // how many message ids were given out
	started  bool                         // the start entry is stored
	prints   fingerprints
	prefix   prefixGuard
	ledger   ledger
	squeezed int    // tokens from where on a conversation that was compacted may be so again
	effort   string // as the log has it
	usual    *usual // what the session works with, while another model answers a turn
	beside   beside
	plans    plans
	asked    string // the message of outcomes that notes were asked for last
	hooks    *hooks
	windows  *windows
	claims   []Claim             // of the last answer
	evidence []Evidence          // the same
	failed   map[string][]Result // of earlier runs
	mode     string              // that was chosen in one
	callers  callers
	watch    sync.Mutex // one observer call at a time
	held     heldEvent
}

// New starts a conversation. Nothing is stored before the first prompt.
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
		Gate: c.Gate, Emit: s.onTool, Intent: s.windows.intend, Clip: c.Clip, Mask: c.Mask, Now: c.Now, Grace: c.Grace, Waits: s.waits, Lacking: lacking,
		Session: string(c.ID), Agent: c.Start.Agent, Mode: c.Mode,
	}
	if c.Hooks != nil {
		s.listen()
	}
	return s
}

// ID names the session.
func (s *Session) ID() ID { return s.config.ID }

// System is the system prompt of every request.
func (s *Session) System() string { return s.config.Start.System }

// History returns the conversation so far. The caller must not change it.
func (s *Session) History() []Message { return s.history }

// Prompt runs one turn: the prompt, then model requests and their calls until the model ends, a
// tool stops the turn, a budget is spent or ctx ends. The last event is TurnEnd with the result
// returned.
func (s *Session) Prompt(ctx context.Context, in Input) Result {
	t, cancel := s.begin(ctx)
	defer cancel()
	s.hooks.greet(t.ctx)
	if err := s.open(t, in); err != nil {
		return s.end(t, err)
	}
	defer s.hooks.notify(HookEnded, "the turn has ended")
	s.beside.listen(true)
	defer s.beside.listen(false)
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

// prepare takes a step and what the user said meanwhile, also while the conversation was summed
// up.
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

// open stores the prompt, with the start entry before the first one and the notes that are due, in
// one commit. Without a text the turn begins with the notes alone.
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

// errStore marks a failure to save: side effects stop, and the exit code says so.
var errStore = errors.New("the session could not be saved")

func (s *Session) entry(kind EntryType, data any) Entry {
	var texts []*string
	if m, ok := data.(saidMessage); ok {
		texts = m.texts()
	}
	// Nothing is escaped for HTML: what a provider wants back unchanged must be loaded as it was
	// stored.
	raw, err := jsontext.Encode(data, texts...)
	if err != nil {
		// Every stored type encodes; a tool's broken metadata was refused before.
		raw, _ = jsontext.Encode(map[string]string{"error": err.Error()})
	}
	return Entry{Type: kind, Time: s.config.Now(), Data: raw}
}
