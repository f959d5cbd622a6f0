package rank_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/tool"
	"adze/tool/rank"
)

// shed is a small catalogue in which everything is safe.
func shed() []tool.Definition {
	var out []tool.Definition
	for _, t := range [][2]string{
		{"createIssue", "Open an issue in a repository."},
		{"list_branches", "List the branches of a repository."},
		{"send-mail", "Send a mail to somebody."},
		{"web_hook", "Call back when something happens."},
	} {
		out = append(out, tool.Definition{
			Name: t[0], Description: t[1], Safety: tool.Safety{Safe: true},
			Parameters: json.RawMessage(`{"type":"object","properties":{"recipient":{"type":"string"}}}`),
		})
	}
	out[0].Aliases, out[2].Tags, out[3].Parameters = []string{"new_bug"}, []string{"post"}, json.RawMessage(`{`)
	return out
}

func namesOf(results []rank.Result) string {
	var out []string
	for _, r := range results {
		name := r.Definition.Name
		if r.Excluded {
			name = "-" + name
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestPickUnderstandsHowPeopleWriteNames(t *testing.T) {
	for query, want := range map[string]string{
		"create issue":            "createIssue",
		"creating an ISSUE":       "createIssue",
		"issues":                  "createIssue",
		"new bugs":                "createIssue",
		"which branch":            "list_branches",
		"repo":                    "createIssue list_branches", // equal in words: order of registration
		"e-mails":                 "send-mail",
		"anything by post":        "send-mail",
		"anna@example.org":        "send-mail",
		"webhook":                 "web_hook",
		"who is the recipient":    "createIssue list_branches send-mail",
		"repositry":               "createIssue list_branches",
		"zebra":                   "",
		"":                        "",
		"the of and":              "",
		"\xff\xfe \x00 ☃ größe":   "",
		"get the branches listed": "list_branches",
	} {
		got := rank.Tools(query, shed(), rank.Options{})
		if namesOf(got) != want {
			t.Errorf("%q picks %q, want %q", query, namesOf(got), want)
		}
	}
}

func TestPickGivesEveryExclusionAReason(t *testing.T) {
	defs := shed()
	defs[0].Safety.Safe = false
	defs = append(defs, defs[2], defs[2])
	defs[4].Name, defs[5].Name = "send-mail-later", "send-mail-never"
	results := rank.Tools("send an issue of the repository by mail", defs, rank.Options{
		Debug: true, MaxCandidates: 2,
	})
	why := map[string]string{}
	for _, r := range results {
		why[r.Definition.Name] = r.Reason
		if r.Of != len(defs) || r.Rank == 0 || r.Reason == "" {
			t.Errorf("%s has place %d of %d and reason %q", r.Definition.Name, r.Rank, r.Of, r.Reason)
		}
	}
	want := map[string]string{
		"createIssue": "not declared safe", "list_branches": "not among the best 2", "web_hook": "nothing in it fits the query",
		"send-mail": "send in name, description; mail in name, description", "send-mail-later": why["send-mail-later"],
		"send-mail-never": "not among the best 2",
	}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if len(results) != len(defs) || results[0].Excluded || results[1].Excluded || !results[2].Excluded {
		t.Errorf("debug results are %s", namesOf(results))
	}
}

func TestOptionsNarrow(t *testing.T) {
	defs := shed()
	defs[1].Safety.Safe = false
	size := rank.OfferSize(defs[0])
	for name, c := range map[string]struct {
		o    rank.Options
		want string
	}{
		"defaults":         {rank.Options{}, "createIssue"},
		"unsafe too":       {rank.Options{AllowUnsafe: true}, "createIssue list_branches"},
		"one":              {rank.Options{AllowUnsafe: true, MaxCandidates: 1}, "createIssue"},
		"strict":           {rank.Options{AllowUnsafe: true, MinScore: 0.999}, ""},
		"no least score":   {rank.Options{AllowUnsafe: true, MinScore: -1, MaxCandidates: 9}, "createIssue list_branches send-mail web_hook"},
		"budget for one":   {rank.Options{AllowUnsafe: true, Budget: size}, "createIssue"},
		"budget too small": {rank.Options{AllowUnsafe: true, Budget: 10}, ""},
	} {
		if got := namesOf(rank.Tools("repository issue", defs, c.o)); got != c.want {
			t.Errorf("%s: picked %q, want %q", name, got, c.want)
		}
	}
}

func TestPickIsPureAndDeterministic(t *testing.T) {
	set := labelled(t)
	before, _ := json.Marshal(set.Tools)
	o := rank.Options{AllowUnsafe: true, MaxCandidates: 400, MinScore: -1, Debug: true}
	first := rank.Tools("list the open issues of a repository", set.Tools, o)
	for range 5 {
		again := rank.Tools("list the open issues of a repository", set.Tools, o)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("two picks differ:\n%s", diff)
		}
	}
	first[0].Definition.Tags[0], first[0].Definition.Parameters[0] = "changed", 'x'
	if after, _ := json.Marshal(set.Tools); string(after) != string(before) {
		t.Error("changing a result changed the definitions")
	}
	for i := 1; i < len(first); i++ {
		if first[i].Score > first[i-1].Score || first[i].Score < 0 || first[i].Score > 1 {
			t.Fatalf("result %d scores %v after %v", i, first[i].Score, first[i-1].Score)
		}
	}
}

// A log that was pasted behind the question neither takes time nor changes the answer.
func TestPickReadsOnlyTheBeginningOfALongQuery(t *testing.T) {
	var log strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&log, " ébranch%d", i)
	}
	got := rank.Tools("create an issue"+log.String(), shed(), rank.Options{MinScore: -1})
	if got[0].Definition.Name != "createIssue" {
		t.Errorf("picked %s", namesOf(got))
	}
}

func BenchmarkPick(b *testing.B) {
	set := labelled(b)
	defs := set.Tools
	for i := 0; len(defs) < 1000; i++ {
		d := set.Tools[i%len(set.Tools)]
		d.Name = fmt.Sprintf("server%d_%s", i, d.Name)
		defs = append(defs, d)
	}
	o := rank.Options{AllowUnsafe: true}
	b.Run("index and pick of 1000", func(b *testing.B) {
		for b.Loop() {
			rank.Tools("which customer requests are still unanswered", defs, o)
		}
	})
	b.Run("pick of 1000", func(b *testing.B) {
		p := rank.New(defs)
		p.Pick("warm", o)
		for b.Loop() {
			p.Pick("which customer requests are still unanswered", o)
		}
	})
}

// A prompt of many words is about more than any one tool: nothing that fits a part of it is dropped
// by its score.
func TestPickDropsNothingOfALongPromptByItsScore(t *testing.T) {
	prompt := "please look at the strange thing that my colleague reported yesterday evening about windows closing, rotating colours, " +
		"blinking cursors, lagging scrollbars, frozen keyboards, noisy fans and crashing plugins, find out whatever you can, then mail"
	for _, o := range []rank.Options{{}, {MinScore: rank.DefaultMinScore / 1000}} {
		if got := namesOf(rank.Tools(prompt, shed(), o)); !strings.Contains(got, "send-mail") {
			t.Errorf("picked %q", got)
		}
	}
	if got := rank.Tools(prompt, shed(), rank.Options{Debug: true}); got[len(got)-1].Reason != "nothing in it fits the query" {
		t.Errorf("a tool without a word of it: %+v", got[len(got)-1])
	}
}

// What is said about an argument is part of what is said about the tool, also in the items of a
// list.
func TestPickReadsWhatIsSaidOfArguments(t *testing.T) {
	defs := shed()
	defs[3].Parameters = json.RawMessage(`{"type":"object","properties":{"hooks":{"type":"array","items":{"type":"object","properties":{
		"shared_secret":{"type":"string","description":"signs the payload"}}}}}}`)
	for _, query := range []string{"signing", "payload", "secret"} {
		if got := namesOf(rank.Tools(query, defs, rank.Options{})); got != "web_hook" {
			t.Errorf("%q picks %q", query, got)
		}
	}
}

// A synonym is for a word that no tool has: where one has it, the others are not meant.
func TestPickLooksForOtherWordsOnlyWhereTheCatalogueHasNone(t *testing.T) {
	defs := shed()
	defs[2].Description = "Post a mail to somebody."
	if got := rank.Tools("open", defs, rank.Options{}); namesOf(got) != "createIssue" || got[0].Reason != "open in description" {
		t.Errorf("picked %q: %+v", namesOf(got), got)
	}
}
