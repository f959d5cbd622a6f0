package plan

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/policy"
	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// model answers every request with the same words, and keeps what it was asked.
type model struct{ asked []session.Request }

func (*model) Name() string { return "m" }

func (m *model) Stream(_ context.Context, r session.Request) iter.Seq[session.Chunk] {
	m.asked = append(m.asked, r)
	return func(yield func(session.Chunk) bool) {
		_ = yield(session.Text{Delta: "Well."}) && yield(session.Done{Stop: session.StopEnd})
	}
}

// sent is the last request as text.
func (m *model) sent() string {
	var b strings.Builder
	for _, msg := range m.asked[len(m.asked)-1].Messages {
		b.WriteString(msg.Text() + "\n")
	}
	return b.String()
}

// room is a desk with its conversation and a user who answers in turn.
type room struct {
	*Manager
	t       *testing.T
	model   *model
	stored  *sessiondb.Memory
	session *session.Session
	mode    policy.Mode
	answers []string
	shown   []Question
}

func newRoom(t *testing.T, answers ...string) *room {
	r := &room{t: t, model: &model{}, stored: sessiondb.NewMemory(), mode: policy.Plan, answers: answers}
	r.Manager = &Manager{
		File: filepath.Join(t.TempDir(), "plans", "one.md"), Session: func() Session { return r.session },
		Mode: func() policy.Mode { return r.mode }, SetMode: func(name string) error { r.mode = policy.Mode(name); return nil },
		MayBe: func(m policy.Mode) bool { return m != policy.Auto },
	}
	if answers != nil {
		r.Ask = func(_ context.Context, q Question) (string, error) {
			r.shown = append(r.shown, q)
			if len(r.answers) == 0 {
				return "", errors.New("gone")
			}
			answer := r.answers[0]
			r.answers = r.answers[1:]
			return answer, nil
		}
	}
	r.session = session.New(r.config())
	return r
}

func (r *room) config() session.Config {
	set, err := (&tool.Registry{}).Tools(r.t.Context(), tool.Init{})
	if err != nil {
		r.t.Fatal(err)
	}
	return session.Config{
		Identity: session.Identity{ID: "one"},
		Requests: session.Requests{Provider: r.model, Model: "m", Sum: "Sum up.", Notes: func(_ context.Context, s session.Step) []session.Note { return r.Notes(s) }},
		Calls:    session.Calls{Tools: set},
		Storage:  session.Storage{Store: r.stored},
	}
}

func (r *room) prompt(text string) {
	r.t.Helper()
	if res := r.session.Prompt(r.t.Context(), session.Input{Text: text}); res.Cause != session.CauseDone {
		r.t.Fatalf("%+v", res)
	}
}

const accepts = "accept it; files of the workspace may be written without asking"

// What was accepted is told once, outlives the compaction and another process, and the mode is told
// as it changes.
func TestTheAcceptedPlanStaysInSight(t *testing.T) {
	r := newRoom(t, accepts)
	r.prompt("begin " + strings.Repeat("long ", 3000))
	if sent := r.model.sent(); strings.Count(sent, planning) != 1 || strings.Contains(sent, "accepted plan") {
		t.Fatalf("at first: %.400s", sent)
	}
	p, err := r.Propose(t.Context(), "# The plan\n\n1. move a")
	if err != nil || p.State != "accepted" || p.Stop || r.mode != policy.Edits || !strings.Contains(p.Output, "mode is edits now") {
		t.Fatalf("%+v, %v, mode %s", p, err, r.mode)
	}
	check := func(when string) {
		t.Helper()
		sent := r.model.sent()
		if strings.Count(sent, "# The plan") != 1 || strings.Count(sent, "<note from=\"accepted plan\"") != 1 || strings.Count(sent, over) != 1 {
			t.Errorf("%s: %s", when, sent[max(0, len(sent)-1500):])
		}
	}
	r.prompt("go on " + strings.Repeat("long ", 3000))
	check("after it was accepted")
	r.prompt("and on")
	check("later")
	if res := r.session.Compact(t.Context(), ""); res.Cause != session.CauseDone {
		t.Fatalf("%+v", res)
	}
	r.prompt("what now?")
	check("after a compaction")
	if strings.Contains(r.model.sent(), planning) {
		t.Error("the model is told the plan mode again")
	}
	if r.session, err = session.Resume(t.Context(), r.config()); err != nil {
		t.Fatal(err)
	}
	if now := r.session.Plan(); now == nil || now.State != session.PlanAccepted || now.SHA256 != hashOf("# The plan\n\n1. move a") {
		t.Errorf("the log has %+v", now)
	}
	r.prompt("and now?")
	check("in another process")
}

// Only an answer of the user accepts: what the model writes does not, and what they did not see
// is shown first.
func TestWhatIsAcceptedIsWhatWasShown(t *testing.T) {
	r := newRoom(t, accepts, accepts)
	r.prompt("hi")
	ask := r.Ask
	r.Ask = func(ctx context.Context, q Question) (string, error) {
		if len(r.shown) == 0 {
			if err := os.WriteFile(r.File, []byte("Something else.\n"), 0o600); err != nil {
				t.Error(err)
			}
		}
		return ask(ctx, q)
	}
	p, err := r.Propose(t.Context(), "I accept this plan in mode yolo.")
	if err != nil || len(r.shown) != 2 || r.shown[1].Text != "Something else." || r.shown[1].Said == "" {
		t.Fatalf("%v, shown %+v", err, r.shown)
	}
	if p.Text != "Something else." || p.SHA256 != hashOf("Something else.") || !strings.Contains(p.Output, "-I accept this plan") {
		t.Errorf("%+v", p)
	}
}

func TestRemarksSendThePlanBack(t *testing.T) {
	r := newRoom(t, "1. accept it", "accept it; ask me before each change", "change it first, in my editor", "no")
	r.prompt("hi")
	for _, want := range []string{"The person sends the plan back: 1. accept it", "The permission mode is ask now"} {
		if p, err := r.Propose(t.Context(), "this"); err != nil || !strings.Contains(p.Output, want) {
			t.Errorf("%+v %v", p, err)
		}
	}
	edits := []string{"that", "", "  "}
	r.Edit = func(_ context.Context, text string) (string, error) {
		next := edits[0]
		edits = edits[1:]
		return next, nil
	}
	p, err := r.Propose(t.Context(), "this")
	raw, _ := os.ReadFile(r.File)
	if err != nil || p.State != "returned" || p.Text != "that" || string(raw) != "that\n" || !strings.Contains(p.Output, "-this\n+that") {
		t.Errorf("%+v %v %q", p, err, raw)
	}
	if p, err := r.Propose(t.Context(), "last"); !errors.Is(err, tool.ErrDenied) || p.State != "proposed" {
		t.Errorf("nobody answers: %+v %v", p, err)
	}
	for _, q := range r.shown {
		for _, c := range q.Choices {
			if strings.Contains(c, "sandbox") {
				t.Errorf("a mode is offered that cannot be: %q", q.Choices)
			}
		}
	}
}

func TestAPlanIsAcceptedLater(t *testing.T) {
	r := newRoom(t)
	r.prompt("hi")
	if err := r.Accept(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	p, err := r.Propose(t.Context(), "this")
	if err != nil || !p.Stop || p.Output != "this" {
		t.Fatalf("%+v %v", p, err)
	}
	if err := os.Remove(r.File); err != nil {
		t.Fatal(err)
	}
	r.mode = policy.Edits
	if p, err := r.Propose(t.Context(), "that"); err != nil || p.Stop {
		t.Errorf("outside the plan mode: %+v %v", p, err)
	}
	if err := r.Accept(t.Context()); err != nil || r.session.Plan().Text != "that" || r.session.Plan().Mode != "edits" {
		t.Errorf("%+v %v", r.session.Plan(), err)
	}
	if err := r.Accept(t.Context()); !errors.Is(err, ErrAccepted) {
		t.Errorf("%v", err)
	}
}
