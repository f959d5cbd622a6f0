package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
)

// Each commit syncs the disk: an answer whose calls only look at files is stored with their
// outcomes.
func TestAnAnswerWhoseCallsReadIsOneCommitWithTheirOutcomes(t *testing.T) {
	r := newRig(t,
		says(text("look"), call("c1", "look", `{"text":"1"}`), call("c2", "look", `{"text":"2"}`), call("c3", "look", `[`)),
		says(text("change"), call("c4", "look", `{"text":"1"}`), call("c5", "change", `{"text":"2"}`)),
		says(text("end")))
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
	wantText(t, "commits", r.shelf.commits(), "start message|message outcome outcome outcome|message outcome intent|outcome|message end")
	wantText(t, "events", r.kinds(), "user assistant end:c1 end:c2 end:c3 assistant end:c4 end:c5 assistant result:done")
}

// A call that takes its time is shown while it runs: what waits is stored and shown soon.
func TestAReadThatTakesLongIsShownMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		run := func(_ context.Context, s string) (string, error) {
			if r.shelf.has(session.MessageEntry, "c1") {
				t.Error("the answer was stored before its call ran")
			}
			time.Sleep(time.Second) // of the bubble's clock
			if kinds := r.kinds(); kinds != "user assistant" || !r.shelf.has(session.MessageEntry, "c1") {
				t.Errorf("after a second of the call %q was shown, and the log is %q", kinds, r.shelf.types())
			}
			return s, nil
		}
		r = rigWith(t, []tool.Tool{noting("look", tool.Read, run)}, says(call("c1", "look", `{"text":"1"}`)), says(text("end")))
		wantCause(t, r.prompt(t, "go"), session.CauseDone)
		wantText(t, "commits", r.shelf.commits(), "start message|message|outcome|message end")
	})
}

// A user, a hook and whatever a call starts find the answer stored.
func TestWhatActsOnAnAnswerFindsItStored(t *testing.T) {
	var r *rig
	stored := func(who string) {
		if !r.shelf.has(session.MessageEntry, "c1") {
			t.Errorf("%s acted on an answer that was not stored", who)
		}
	}
	step := says(call("c1", "look", `{"text":"1"}`))
	r = newRig(t, step, says(text("end")))
	r.config.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		defer q.Waits()()
		stored("a person")
		return tool.Decision{Allow: true}, nil
	})
	wantCause(t, r.prompt(t, "go"), session.CauseDone)

	r = newRig(t, step, says(text("end")))
	r.config.Hooks = func(_ context.Context, m session.Moment) tool.Ruling {
		if m.Event == session.HookBefore {
			m.Starts()
			stored("a hook")
		}
		return tool.Ruling{}
	}
	wantCause(t, r.prompt(t, "go"), session.CauseDone)
}

// An answer that cannot be stored is not shown, is in no request, and ends the turn: as before it
// waited.
func TestAnAnswerThatCannotBeStoredIsUnsaid(t *testing.T) {
	for _, name := range []string{"look", "change"} {
		r := newRig(t, says(text("hm"), call("c1", name, `{"text":"1"}`)), says(text("end")))
		r.shelf.failAt = 2 // start and prompt
		s := session.New(r.config)
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: "go"}), session.CauseStore)
		wantText(t, "events", r.kinds(), "user result:store")
		r.shelf.failAt = 0
		wantCause(t, s.Prompt(t.Context(), session.Input{Text: "on"}), session.CauseDone)
		wantText(t, "log", r.shelf.types(), "start message message message end")
		if sent, err := json.Marshal(r.model.requests[1].Messages); err != nil || strings.Contains(string(sent), "c1") {
			t.Errorf("the lost answer was sent: %s %v", sent, err)
		}
	}
}

// A failure that is met while a call runs stops the turn, too.
func TestAnAnswerThatIsLostMeanwhileStopsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		run := func(context.Context, string) (string, error) {
			r.shelf.fail(2)
			time.Sleep(time.Second)
			r.shelf.fail(0)
			return "", errors.New("no")
		}
		r = rigWith(t, []tool.Tool{noting("look", tool.Read, run)}, says(call("c1", "look", `{"text":"1"}`)), says(text("end")))
		wantCause(t, r.prompt(t, "go"), session.CauseStore)
		wantText(t, "log", r.shelf.types(), "start message end")
	})
}
