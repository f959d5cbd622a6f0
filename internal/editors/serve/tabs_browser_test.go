package serve_test

import (
	"fmt"
	"testing"
)

// hide tells a tab that it is hidden, or seen: without a window all tabs are seen.
func (t *tab) hide(is bool) {
	t.eval(fmt.Sprintf(`(() => { for (const [name, value] of [["hidden", %[1]v], ["visibilityState", %[1]v ? "hidden" : "visible"]]) Object.defineProperty(document, name, {configurable: true, value}); document.dispatchEvent(new Event("visibilitychange")) })()`, is))
}

// TestEightTabs: a browser opens six connections to a server. Eight tabs work all the same: those
// that are hidden give their streams up, but for one that keeps the list's and tells the others how
// many sessions wait; a tab that is seen again has what came meanwhile.
func TestEightTabs(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	s := listen(t, h)
	id := s.say(h, "Mend the race", "There is a race")
	var tabs []*tab
	for range 8 {
		if len(tabs) > 0 {
			tabs[len(tabs)-1].hide(true)
		}
		page := b.open(s.first())
		page.until(`document.querySelector("#list .row")`)
		page.eval(`location.hash = "#/s/` + id + `"`)
		page.until(`document.querySelector(".end")`)
		page.eval(`document.querySelector(".turn").dataset.mark = "kept"`)
		tabs = append(tabs, page)
	}
	eventually(t, "two streams for eight tabs", func() bool { return s.s.Pages() == 2 })
	tabs[7].hide(true)
	eventually(t, "one stream for eight tabs that nobody sees", func() bool { return s.s.Pages() == 1 })
	if got := tabs[0].eval(`navigator.locks.query().then((q) => q.held.length + " " + q.pending.length)`); got != "1 7" {
		t.Errorf("locks that are held and waited for: %s", got)
	}
	for _, page := range tabs {
		page.eval(`(() => { window.rung = []; window.Notification = class { static permission = "granted"; constructor(title, o) { rung.push(title + ": " + o.body) } } })()`)
	}
	s.say(h, "Publish", "publish it")
	for _, page := range tabs {
		page.until(`document.title.startsWith("(1) ")`)
	}
	rung := ""
	for _, page := range tabs {
		rung += page.eval(`rung.join("|")`)
	}
	if rung != "adze needs you: A session waits for your answer." {
		t.Errorf("the browser told the user %q", rung)
	}
	s.act(id, "say", map[string]any{"text": "rename it"})
	eventually(t, "the end of the second turn", func() bool { return len(h.ends(id)) == 2 })
	for i, page := range tabs {
		if i == 3 {
			continue
		}
		page.hide(false)
		page.until(`document.querySelectorAll(".end").length === 2`)
		if got := page.eval(`document.querySelector(".turn").dataset.mark`); got != "kept" {
			t.Errorf("tab %d drew what it had again", i)
		}
		page.hide(true)
	}
	eventually(t, "one stream again", func() bool { return s.s.Pages() == 1 })
	b.quiet()
}
