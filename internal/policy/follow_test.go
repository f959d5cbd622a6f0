package policy

import (
	"context"
	"testing"

	"adze/tool"
)

// counted is a workspace that tells how often a path was judged.
type counted struct {
	places
	judged, followed *int
}

func (c counted) Judge(name string) (Place, error) {
	*c.judged++
	return c.places.Judge(name)
}

func (c counted) Follow(names []string) (led []string) {
	for _, name := range names {
		*c.followed++
		at, err := c.places.Judge(name)
		if err != nil {
			at.Abs = ""
		}
		led = append(led, at.Abs)
	}
	return led
}

// What adze keeps of its own is followed, also where a link leads there, and only what a call names
// is judged.
func TestOnlyWhatACallNamesIsJudged(t *testing.T) {
	judged, followed := 0, 0
	p, err := New(Options{Mode: Yolo, Paths: counted{judged: &judged, followed: &followed}, Home: "/home/me", OwnPaths: []string{"/link-to-keys/own", "/state"}})
	if err != nil {
		t.Fatal(err)
	}
	for target, allowed := range map[string]bool{"a.txt": true, "/keys/own/config.json": false, "/state/x": false, "/keys/other": true} {
		judged, followed = 0, 0
		d, err := p.Decide(context.Background(), tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: target}}})
		if err != nil || d.Allow != allowed {
			t.Errorf("%s: allowed %v, want %v: %s %v", target, d.Allow, allowed, d.Reason, err)
		}
		if judged != 1 || followed != 2 {
			t.Errorf("%s: %d paths were judged and %d followed", target, judged, followed)
		}
	}
}
