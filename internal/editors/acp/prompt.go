package acp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"adze/session"
)

// prompt begins a turn. The turn is registered right here so that a cancel behind it finds it.
func (a *Agent) prompt(raw json.RawMessage) (job, error) {
	p, err := params[struct {
		SessionId sdk.SessionId     `json:"sessionId"`
		Prompt    []json.RawMessage `json:"prompt"`
	}](raw)
	if err != nil {
		return nil, err
	}
	t, err := a.thread(p.SessionId)
	if err != nil {
		return nil, err
	}
	u, err := t.start()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, func(), error) {
		defer t.finish(u)
		stop := context.AfterFunc(ctx, func() { u.cancel(session.ErrInterrupted) })
		defer stop()
		u.await()
		if u.ctx.Err() != nil {
			return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil, nil
		}
		in, err := given(p.Prompt)
		if err == nil {
			err = t.back(u.ctx)
		}
		if err != nil {
			return nil, nil, err
		}
		return u.response(t.run(u, in))
	}, nil
}

func (t *thread) run(u *turn, p Prompt) session.Result {
	first := !t.current().HasMessages()
	r := t.current().Prompt(u.ctx, p)
	if first && t.current().HasMessages() {
		t.title()
	}
	t.updates.over()
	return r
}

func (u *turn) response(r session.Result) (any, func(), error) {
	reason, ok := stopReason(r.Cause)
	if u.ctx.Err() != nil {
		reason, ok = sdk.StopReasonCancelled, true
	}
	if !ok {
		return nil, nil, failed(r)
	}
	return sdk.PromptResponse{StopReason: reason, Meta: said(r)}, nil, nil
}

// stopReason maps a turn's end to the protocol, or returns false for an error.
func stopReason(c session.Cause) (sdk.StopReason, bool) {
	switch c {
	case session.CauseDone:
		return sdk.StopReasonEndTurn, true
	case session.CauseTruncated:
		return sdk.StopReasonMaxTokens, true
	case session.CauseBudget:
		return sdk.StopReasonMaxTurnRequests, true
	case session.CauseRefused:
		return sdk.StopReasonRefusal, true
	case session.CauseInterrupted, session.CauseTerminated:
		return sdk.StopReasonCancelled, true
	}
	return "", false
}

// said returns details that a stop reason lacks: the cause in a run's words, and the usage.
func said(r session.Result) map[string]any {
	about := map[string]any{"cause": r.Cause, "turns": r.Steps}
	if r.Message != "" {
		about["message"], about["hint"] = r.Message, r.Hint
	}
	if len(r.Usage) > 0 {
		about["usage"] = r.Usage
	}
	if r.Cost != nil {
		about["cost_usd"] = *r.Cost
	}
	return map[string]any{metaKey: about}
}

// metaKey is adze's key in the protocol's _meta.
const metaKey = "adze"

// failed converts a result to an error response.
func failed(r session.Result) *jsonrpc2.Error {
	code := int64(jsonrpc2.CodeInternalError)
	switch r.Cause {
	case session.CauseNoModel:
		code = codeAuth
	case session.CauseUsage, session.CauseContext:
		code = jsonrpc2.CodeInvalidParams
	}
	words := r.Message
	if r.Hint != "" {
		words = fmt.Sprintf("%s (%s)", words, r.Hint)
	}
	out := refuse(code, words)
	out.SetError(map[string]any{"cause": r.Cause, "message": r.Message, "hint": r.Hint})
	return out
}
