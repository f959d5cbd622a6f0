package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

func TestRowsBecomeCells(t *testing.T) {
	rows := parse("a\x1b[1;31mb\x1b[38;2;1;2;3mc\nd\x1b[me日\x1b[48;5;196mf\x1b[48;5;3mg\n", 10, 5)
	var got []string
	for _, r := range rows {
		for _, c := range r {
			got = append(got, fmt.Sprint(c.Content, c.Width, dark.hex(c.Style.Fg, "-"), dark.hex(c.Style.Bg, "-"), attributes(c.Style)))
		}
	}
	want := []string{"a1--", `b1#e06c6c- font-weight="bold"`, `c1#010203- font-weight="bold"`, `d1#010203- font-weight="bold"`, "e1--", "日2--", "f1-#ff0000", "g1-#dcb56a"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRowsNeverLeaveTheWindow(t *testing.T) {
	rows := parse("日日日\nb\nc\n", 5, 2)
	if len(rows) != 2 || len(rows[0]) != 2 {
		t.Errorf("%v", rows)
	}
}

func TestAttributesEnd(t *testing.T) {
	row := parse("\x1b[1;2;3;4;7;9;91;101ma\x1b[22;23;24;27;29;39;49mb", 2, 1)[0]
	if !row[1].Style.IsZero() {
		t.Errorf("left over: %+v", row[1].Style)
	}
}

func TestPictureIsXML(t *testing.T) {
	p := svg(parse("<a & b> \x1b[7mreverse\x1b[m ──── \x1b[2;4mdim", 60, 1), 60, "a <title>", dark)
	d := xml.NewDecoder(bytes.NewReader(p))
	var texts []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, p)
		}
		if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
			texts = append(texts, string(c))
		}
	}
	if got := strings.Join(texts, "|"); got != "a <title>|<a & b> |reverse|────|dim" {
		t.Errorf("texts %q", got)
	}
}

func TestScenesSayWhatIsWrong(t *testing.T) {
	for _, bad := range []string{"size big\nadze x\nsee y", "colours pink\nadze x\nsee y", "frobnicate\nadze x\nsee y", "see y", "adze x"} {
		if _, err := parseScene("x", []byte(bad)); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// Every picture of the README has a scene, and is there.
func TestPicturesOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := load(scenes)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`\((testdata/pictures/([a-z_]+)\.svg)\)`).FindAllSubmatch(readme, -1)
	if len(shown) == 0 {
		t.Error("the README shows no picture")
	}
	for _, m := range shown {
		if _, err := os.Stat(filepath.Join("../../..", string(m[1]))); err != nil {
			t.Error(err)
		}
		if all[string(m[2])].name == "" {
			t.Errorf("there is no scene %s", m[2])
		}
	}
}

// The scenes are played with the program as it is: a picture cannot be older than what it shows
// without notice.
func TestScenesPlay(t *testing.T) {
	effort.Needs(t, effort.Short, "plays every scene in a terminal")
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: no terminal to look at")
	}
	t.Chdir("../../..")
	out := t.TempDir()
	if err := run(t.Context(), out, "", nil, nil); err != nil {
		t.Fatal(err)
	}
	all, _ := load(scenes)
	for _, s := range all {
		if info, err := os.Stat(filepath.Join(out, s.name+".svg")); err != nil || info.Size() < 2000 {
			t.Errorf("scene %s: %v %v", s.name, info, err)
		}
	}
}
