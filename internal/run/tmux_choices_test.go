package run_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResumeAloneOpensTheList: --resume without an id shows the sessions, and enter opens one.
func TestResumeAloneOpensTheList(t *testing.T) {
	u := newUser(t)
	u.run("-p", u.script("-- 1 --\ntext: The first answer.\n"), "the question").wants(0, "The first answer.")
	p := u.openPane(100, 30)
	p.adze("--resume", u.script("-- 1 --\ntext: no\n"))
	p.sees("sessions ·", "the question", "enter")
	p.keys("Enter")
	p.sees("┃ the question", "The first answer.", "Ask, or say what to do")
	p.gone("sessions ·")
	p.quit()
}

// TestAnOwnAddressIsKeptFromTheFirstScreen: an address that does not answer is told, one that does
// is written into the configuration, and its model is used.
func TestAnOwnAddressIsKeptFromTheFirstScreen(t *testing.T) {
	u := newUser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			io.WriteString(w, `{"object":"list","data":[{"id":"house-coder","object":"model"}]}`)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	p := u.openPane(100, 30)
	p.begin()
	p.sees("what to do next", "▸ enter a key", "use your own server")
	p.keys("Down")
	p.sees("▸ use your own server")
	p.keys("Enter")
	p.sees("the address of your server", "such as http://")
	p.text("not an address")
	p.keys("Enter")
	p.sees("error: ")
	p.keys("C-u")
	p.text(server.URL + "/v1")
	p.keys("Enter")
	p.sees("the address is in", "use server/house-coder")
	config, err := os.ReadFile(filepath.Join(u.home, "config.json"))
	if err != nil || !strings.Contains(string(config), server.URL+"/v1") {
		t.Errorf("%s %v", config, err)
	}
	p.keys("Enter")
	p.sees("Ask, or say what to do", "server/house-coder")
	p.quit()
}
