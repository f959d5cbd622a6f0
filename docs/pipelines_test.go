package docs

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"
)

// github is what is looked at in a workflow.
type github struct {
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Env         map[string]string `yaml:"env"`
	Jobs        map[string]struct {
		If          string            `yaml:"if"`
		Timeout     int               `yaml:"timeout-minutes"`
		Permissions map[string]string `yaml:"permissions"`
		Env         map[string]string `yaml:"env"`
		Steps       []struct {
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			Env  map[string]string `yaml:"env"`
			With map[string]any    `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// gitlab is what is looked at in a job.
type gitlab struct {
	Rules []struct {
		If string `yaml:"if"`
	} `yaml:"rules"`
	Timeout      string            `yaml:"timeout"`
	Variables    map[string]string `yaml:"variables"`
	BeforeScript []string          `yaml:"before_script"`
	Script       []string          `yaml:"script"`
	AllowFailure struct {
		ExitCodes []int `yaml:"exit_codes"`
	} `yaml:"allow_failure"`
	Artifacts map[string]any `yaml:"artifacts"`
}

// block is the one indented block of a section of the page on CI.
func block(t *testing.T, heading string, into any) {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(Section("ci", heading)) {
		if text, ok := strings.CutPrefix(line, "    "); ok {
			out.WriteString(text)
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(out.String()))
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", heading, err)
	}
}

// isShell reports a script that bash would not read.
func isShell(t *testing.T, script string) {
	t.Helper()
	if _, err := syntax.NewParser().Parse(strings.NewReader(script), ""); err != nil {
		t.Errorf("%v in:\n%s", err, script)
	}
	if strings.Contains(script, "${{") {
		t.Errorf("a text of others becomes a part of the script:\n%s", script)
	}
}

// bounded reports a run of adze without budgets, with instructions of the change, or with more
// rights than to look.
func bounded(t *testing.T, script string) {
	t.Helper()
	for _, flag := range []string{"adze -p ", " --bare ", " --no-session ", " --max-turns ", " --max-cost ", " --max-time "} {
		if !strings.Contains(script, flag) {
			t.Errorf("the script has no %q:\n%s", flag, script)
		}
	}
	if regexp.MustCompile(`--permission-mode|--allow|yolo`).MatchString(script) {
		t.Errorf("the reviewer may do more than look:\n%s", script)
	}
}

// TestTheWorkflowGivesLeastRights reads the example for GitHub.
func TestTheWorkflowGivesLeastRights(t *testing.T) {
	var w github
	block(t, "GitHub Actions", &w)
	if events := slices.Collect(maps.Keys(w.On)); !slices.Equal(events, []string{"pull_request"}) {
		t.Errorf("it runs on %v", events)
	}
	if w.Permissions == nil || len(w.Permissions) != 0 {
		t.Errorf("all jobs have %v", w.Permissions)
	}
	runs := 0
	for name, job := range w.Jobs {
		if job.Timeout == 0 {
			t.Errorf("%s has no time limit", name)
		}
		for _, step := range job.Steps {
			isShell(t, step.Run)
			secret := strings.Contains(strings.Join(slices.Collect(maps.Values(step.Env)), " "), "secrets.")
			if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
				t.Errorf("%s leaves the token of the checkout for the commands of the job", name)
			}
			if !strings.Contains(step.Run, "adze -p") {
				if secret {
					t.Errorf("%s: a step that does not run adze has the key", name)
				}
				continue
			}
			runs++
			bounded(t, step.Run)
			if !secret {
				t.Errorf("%s: the step has no key", name)
			}
			if !maps.Equal(job.Permissions, map[string]string{"contents": "read"}) || !strings.Contains(job.If, "head.repo.full_name == github.repository") {
				t.Errorf("the job of adze has %v if %q", job.Permissions, job.If)
			}
		}
		if len(job.Env) > 0 || len(w.Env) > 0 {
			t.Error("a variable is there for more than one step")
		}
	}
	if runs != 1 || len(w.Jobs) != 2 {
		t.Errorf("%d runs of adze in %d jobs", runs, len(w.Jobs))
	}
	if write := w.Jobs["comment"].Permissions; !maps.Equal(write, map[string]string{"pull-requests": "write"}) {
		t.Errorf("the job that comments has %v", write)
	}
}

// TestTheGitLabJobGivesLeastRights reads the example for GitLab.
func TestTheGitLabJobGivesLeastRights(t *testing.T) {
	jobs := map[string]gitlab{}
	block(t, "GitLab", &jobs)
	j, ok := jobs["review"]
	if !ok || len(jobs) != 1 {
		t.Fatalf("the jobs are %v", slices.Collect(maps.Keys(jobs)))
	}
	for _, script := range slices.Concat(j.BeforeScript, j.Script) {
		isShell(t, script)
	}
	bounded(t, strings.Join(j.Script, "\n"))
	if len(j.Rules) != 1 || !strings.Contains(j.Rules[0].If, "merge_request_event") || !strings.Contains(j.Rules[0].If, "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID") {
		t.Errorf("the rules are %v", j.Rules)
	}
	if j.Timeout == "" || !slices.Equal(j.AllowFailure.ExitCodes, []int{6}) || len(j.Artifacts) == 0 {
		t.Errorf("it has the time limit %q, may fail with %v, and leaves %v", j.Timeout, j.AllowFailure.ExitCodes, j.Artifacts)
	}
	for name := range j.Variables {
		if strings.Contains(name, "KEY") {
			t.Errorf("the key stands in the file as %s", name)
		}
	}
}
