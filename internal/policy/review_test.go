package policy

import (
	"testing"

	"adze/tool"
)

// TestReviewStagesAskAndAuto: with review: once, ask and auto stage what a turn changes, plan and
// yolo stay as they are; no owner who lets nobody edit unasked lets edits be staged.
func TestReviewStagesAskAndAuto(t *testing.T) {
	for mode, want := range map[Mode]Mode{AskFirst: AskStaged, Edits: AskStaged, Auto: Staged, Plan: Plan, Yolo: Yolo} {
		if got := mode.Reviewed(true); got != want {
			t.Errorf("%s with review: once is %s, want %s", mode, got, want)
		}
	}
	if AskStaged.Reviewed(false) != AskFirst || Staged.Reviewed(false) != Auto {
		t.Error("review: each leaves a mode staged")
	}
	if AskStaged.IncludedIn([]Mode{AskFirst}) || !AskStaged.IncludedIn([]Mode{Edits}) || !Staged.IncludedIn([]Mode{Auto}) || Staged.IncludedIn([]Mode{Edits}) {
		t.Error("a staged mode is not as narrow as what it stands for")
	}
}

// TestAskStagedAsksAboutCommandsAlone: edits go to the view unasked, commands are asked about.
func TestAskStagedAsksAboutCommandsAlone(t *testing.T) {
	p := newPolicy(t, AskStaged, nil)
	p.options.Stage = func() string { return "" }
	for need, want := range map[tool.Need]Effect{
		{Permission: tool.Write, Target: "a.go"}: Allow, {Permission: tool.Write, Target: "/etc/x"}: Ask, {Permission: tool.Execute, Target: "make"}: Ask,
	} {
		if v := p.judge(p.Mode(), need); v.effect != want {
			t.Errorf("%s %s: %s, want %s", need.Permission, need.Target, v.effect, want)
		}
	}
}
