package serve_test

import (
	"encoding/json"
	"testing"

	"adze/internal/testkit/browsertest"
)

// browser and tab are those of browsertest by the short names of these tests.
type browser struct{ *browsertest.Browser }

type tab struct {
	*browsertest.Tab
	id string
}

func newBrowser(t *testing.T) *browser { t.Helper(); return &browser{browsertest.New(t)} }

func (b *browser) quiet() { b.T.Helper(); b.Quiet() }

func (b *browser) open(url string) *tab { b.T.Helper(); p := b.Open(url); return &tab{p, p.ID} }

func (b *browser) call(tab, method string, params any) json.RawMessage {
	b.T.Helper()
	return b.Call(tab, method, params)
}

func (p *tab) eval(expression string) string     { p.Browser.T.Helper(); return p.Eval(expression) }
func (p *tab) until(expression string)           { p.Browser.T.Helper(); p.Until(expression) }
func (p *tab) key(name string)                   { p.Browser.T.Helper(); p.Key(name) }
func (p *tab) send(text string)                  { p.Browser.T.Helper(); p.Send(text) }
func (p *tab) size(width, height int, dark bool) { p.Browser.T.Helper(); p.Size(width, height, dark) }
func (p *tab) shoot(path string)                 { p.Browser.T.Helper(); p.Shoot(path) }
