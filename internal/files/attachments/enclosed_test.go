package attachments_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"adze/internal/files/attachments"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// TestDataOfAnAddress: what a data: URL may look like, and what is none.
func TestDataOfAnAddress(t *testing.T) {
	for name, c := range map[string]struct{ address, want, fails string }{
		"base64":          {"data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png)), png, ""},
		"without padding": {"data:text/plain;base64,YQ", "a", ""},
		"with a charset":  {"data:text/plain;charset=utf-8;base64,w7w=", "ü", ""},
		"percent":         {"data:,a%20b%2Cc", "a b,c", ""},
		"a plus is none":  {"data:,a+b", "a+b", ""},
		"nothing":         {"data:,", "", ""},
		"no comma":        {"data:text/plain", "", "no comma"},
		"broken base64":   {"data:;base64,!!!", "", "illegal base64"},
		"broken percent":  {"data:,%zz", "", "invalid URL escape"},
		"of the web":      {"https://example.com/a.png", "", attachments.ErrElsewhere.Error()},
		"of this machine": {"file:///etc/passwd", "", attachments.ErrElsewhere.Error()},
		"of a page":       {"blob:http://x/1", "", attachments.ErrElsewhere.Error()},
		"empty":           {"", "", attachments.ErrElsewhere.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := attachments.Data(c.address)
			if c.fails == "" && (err != nil || string(raw) != c.want) || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("%q, %v; want %q, %q", raw, err, c.want, c.fails)
			}
		})
	}
	if _, err := attachments.Data("http://x"); !errors.Is(err, attachments.ErrElsewhere) {
		t.Errorf("%v is not ErrElsewhere", err)
	}
}

// TestWhatAFileIs: its bytes say it.
func TestWhatAFileIs(t *testing.T) {
	for name, c := range map[string]struct {
		raw        string
		file, text bool
	}{
		"a picture":           {png, true, false},
		"a PDF":               {"%PDF-1.7\n", true, false},
		"words":               {"package main\n", false, true},
		"words of many":       {"größer\n", false, true},
		"nothing":             {"", false, true},
		"an archive":          {"PK\x03\x04\x00\x00", false, false},
		"Latin-1":             {"gr\xf6\xdfer\n", false, false},
		"words, then a zero":  {"a\x00b", false, false},
		"a sound":             {"RIFF\x00\x00\x00\x00WAVEfmt ", false, false},
		"a picture of markup": {"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, file := attachments.File("x", []byte(c.raw))
			if text := attachments.Text([]byte(c.raw)); file != c.file || text != c.text {
				t.Errorf("file %v, text %v; want %v, %v", file, text, c.file, c.text)
			}
		})
	}
}

// TestAFenceHoldsItsText: whatever fences are in it.
func TestAFenceHoldsItsText(t *testing.T) {
	if got := attachments.Fenced("a.md", "x\n````go\n````\n"); got != "a.md:\n`````\nx\n````go\n````\n`````\n" {
		t.Errorf("%q", got)
	}
}
