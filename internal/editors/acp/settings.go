package acp

import (
	"context"
	"fmt"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"adze/session/api"
)

// A session's options. Modes are sent twice: as an option for newer editors, and in the older form.
const (
	modeOption   = "mode"
	modelOption  = "model"
	effortOption = "effort"
)

// usualEffort stands for the provider's configured effort.
const usualEffort = "default"

func (t *thread) modes() *sdk.SessionModeState {
	with := t.current()
	s := &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(with.Mode()), AvailableModes: []sdk.SessionMode{}}
	for _, m := range with.Modes() {
		s.AvailableModes = append(s.AvailableModes, sdk.SessionMode{Id: sdk.SessionModeId(m.Name), Name: m.Name, Description: sdk.Ptr(m.Means)})
	}
	return s
}

// choices returns the usable models, including the current one.
func (t *thread) choices(with Conversation) (out []api.ModelRow) {
	t.mu.Lock()
	rows := t.rows
	t.mu.Unlock()
	if rows == nil {
		rows = with.Models()
	}
	for _, r := range rows {
		if r.Why == "" || r.Name == with.Model() {
			out = append(out, r)
		}
	}
	if !slices.ContainsFunc(out, func(r api.ModelRow) bool { return r.Name == with.Model() }) {
		out = slices.Insert(out, 0, api.ModelRow{Name: with.Model()})
	}
	return out
}

func (t *thread) options() []sdk.SessionConfigOption { return t.optionsOf(t.current()) }

func (t *thread) optionsOf(with Conversation) []sdk.SessionConfigOption {
	var modes, models, efforts []sdk.SessionConfigSelectOption
	for _, m := range with.Modes() {
		modes = append(modes, choice(m.Name, m.Means))
	}
	for _, r := range t.choices(with) {
		models = append(models, choice(r.Name, r.Note))
	}
	for _, e := range with.Efforts() {
		efforts = append(efforts, choice(e.Name, e.Means))
	}
	effort := with.Effort()
	if effort == "" {
		effort = usualEffort
	}
	return []sdk.SessionConfigOption{
		option(modeOption, "Permission mode", "mode", with.Mode(), modes),
		option(modelOption, "Model", "model", with.Model(), models),
		option(effortOption, "Effort", "thought_level", effort, efforts),
	}
}

func choice(value, means string) sdk.SessionConfigSelectOption {
	c := sdk.SessionConfigSelectOption{Value: sdk.SessionConfigValueId(value), Name: value}
	if means != "" {
		c.Description = &means
	}
	return c
}

func option(id, name, category, now string, choices []sdk.SessionConfigSelectOption) sdk.SessionConfigOption {
	o := sdk.NewSessionConfigOptionSelect(sdk.SessionConfigValueId(now), sdk.SessionConfigSelectOptions{Ungrouped: sdk.Ptr(sdk.SessionConfigSelectOptionsUngrouped(choices))})
	o.Select.Id, o.Select.Name, o.Select.Category = sdk.SessionConfigId(id), name, sdk.Ptr(sdk.SessionConfigOptionCategory(category))
	return o
}

func (t *thread) optionUpdate(with Conversation) sdk.SessionUpdate {
	return sdk.SessionUpdate{ConfigOptionUpdate: &sdk.SessionConfigOptionUpdate{ConfigOptions: t.optionsOf(with)}}
}

func (t *thread) tellOptions() { t.post(t.optionUpdate(t.current())) }

// setMode sets a permission mode, also during a turn.
func (a *Agent) setMode(ctx context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, func(), error) {
	t, err := a.thread(p.SessionId)
	if err == nil {
		err = t.choose(ctx, modeOption, string(p.ModeId))
	}
	return sdk.SetSessionModeResponse{}, nil, err
}

// setOption sets an option. The response has all options.
func (a *Agent) setOption(ctx context.Context, p sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, func(), error) {
	if p.ValueId == nil {
		return sdk.SetSessionConfigOptionResponse{}, nil, refuse(jsonrpc2.CodeInvalidParams, "name one of the option's values")
	}
	t, err := a.thread(p.ValueId.SessionId)
	if err == nil {
		err = t.choose(ctx, string(p.ValueId.ConfigId), string(p.ValueId.Value))
	}
	if err != nil {
		return sdk.SetSessionConfigOptionResponse{}, nil, err
	}
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: t.options()}, nil, nil
}

func (t *thread) choose(ctx context.Context, option, value string) error {
	if err := t.checkOpen(); err != nil {
		return err
	}
	switch option {
	case modeOption:
		if err := t.current().SetMode(value); err != nil {
			return refuse(jsonrpc2.CodeInvalidParams, err.Error())
		}
		t.updates.over()
		return nil
	case effortOption:
		if !slices.ContainsFunc(t.current().Efforts(), func(m api.Mode) bool { return m.Name == value }) {
			return refuse(jsonrpc2.CodeInvalidParams, fmt.Sprintf("there is no effort %q", value))
		}
		t.current().SetEffort(value)
	case modelOption:
		if value == t.current().Model() {
			return nil
		}
		_, end, err := t.begin(ctx, false)
		if err == nil {
			err = t.again(ctx, func(w *OpenRequest) error { w.Model = value; return t.checkOpen() })
			end()
		}
		if err != nil {
			return t.agent.refusal(err)
		}
	default:
		return refuse(jsonrpc2.CodeInvalidParams, fmt.Sprintf("there is no option %q", option))
	}
	t.tellOptions()
	return nil
}
