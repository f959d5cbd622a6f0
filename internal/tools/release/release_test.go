package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/run"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// inRoot makes the root of the checkout the folder of a test, as it is for the program.
func inRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", "..", ".."))
}

// sample is a release whose program is a script, so that it can be installed without a build.
func sample(t *testing.T, targets ...Target) (Release, string) {
	t.Helper()
	out := t.TempDir()
	r := Release{Version: "9.8.7", URL: "file://" + filepath.ToSlash(out), Time: noon, Out: out, Targets: targets}
	common, err := r.commonFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		files := append(slices.Clone(common), File{Name: target.program(), Mode: 0o755, Data: []byte("#!/bin/sh\necho adze 9.8.7\n")},
			File{Name: "THIRD_PARTY_LICENSES.txt", Mode: 0o644, Data: []byte("none\n")})
		name := target.archive(r.Version)
		raw, err := archive(target, strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), ".tar.gz"), files, r.Time)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.finish(out); err != nil {
		t.Fatal(err)
	}
	return r, out
}

// TestTheSameFilesMakeTheSameRelease packs all targets twice and reads the archives back.
func TestTheSameFilesMakeTheSameRelease(t *testing.T) {
	inRoot(t)
	_, first := sample(t, Targets()...)
	_, second := sample(t, Targets()...)
	names := map[string]bool{}
	entries, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names[e.Name()] = true
		a, b := read(t, filepath.Join(first, e.Name())), read(t, filepath.Join(second, e.Name()))
		a = bytes.ReplaceAll(a, []byte(filepath.ToSlash(first)), []byte(filepath.ToSlash(second)))
		if e.Name() != "SHA256SUMS" && !bytes.Equal(a, b) {
			t.Errorf("%s differs between two releases of the same source", e.Name())
		}
	}
	for _, want := range []string{"SHA256SUMS", "install.sh", "install.ps1", "adze.rb", "adze.json",
		"adze_9.8.7_linux_amd64.tar.gz", "adze_9.8.7_darwin_arm64.tar.gz", "adze_9.8.7_windows_arm64.zip"} {
		if !names[want] {
			t.Errorf("the release has no %s", want)
		}
	}
	packed := inTar(t, read(t, filepath.Join(first, "adze_9.8.7_linux_amd64.tar.gz")))
	for _, want := range []string{"adze", "LICENSE", "THIRD_PARTY_LICENSES.txt", "README.md", "docs/start.md", "man/adze.1", "man/adze-sessions-list.1", "completions/_adze"} {
		if !slices.Contains(packed, "adze_9.8.7_linux_amd64/"+want) {
			t.Errorf("the archive has no %s", want)
		}
	}
	z, err := zip.OpenReader(filepath.Join(first, "adze_9.8.7_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if _, err := fs.Stat(z, "adze_9.8.7_windows_amd64/adze.exe"); err != nil {
		t.Error(err)
	}
	var manifest struct {
		Architecture map[string]struct{ Hash string }
	}
	if err := json.Unmarshal(read(t, filepath.Join(first, "adze.json")), &manifest); err != nil || len(manifest.Architecture["arm64"].Hash) != 64 {
		t.Errorf("the manifest for Scoop: %v, %+v", err, manifest)
	}
}

// TestTheScriptInstallsWhatWasReleased runs install.sh as a user does: in an empty folder, with an
// archive that was changed, over a version that is there, and to remove it.
func TestTheScriptInstallsWhatWasReleased(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("install.sh is for Linux and macOS")
	}
	inRoot(t)
	here := Target{runtime.GOOS, runtime.GOARCH}
	r, out := sample(t, here)
	home, work := t.TempDir(), t.TempDir()
	install := func(args ...string) (string, error) {
		c := exec.Command("sh", append([]string{filepath.Join(out, "install.sh")}, args...)...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + work}
		raw, err := c.CombinedOutput()
		return string(raw), err
	}
	prefix := filepath.Join(home, "with a space")
	said, err := install("--prefix", prefix)
	if err != nil || !strings.Contains(said, "installed adze 9.8.7 as "+prefix+"/bin/adze") {
		t.Fatalf("install: %v\n%s", err, said)
	}
	for _, name := range []string{"bin/adze", "share/man/man1/adze.1", "share/adze/docs/start.md", "share/bash-completion/completions/adze"} {
		if _, err := os.Stat(filepath.Join(prefix, name)); err != nil {
			t.Error(err)
		}
	}
	if said, err := install("--prefix", prefix); err != nil {
		t.Errorf("install over itself: %v\n%s", err, said)
	}

	name := filepath.Join(out, here.archive(r.Version))
	good := read(t, name)
	changed := bytes.Clone(good)
	changed[len(changed)/2] ^= 1
	if err := os.WriteFile(name, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "other")
	if said, err := install("--prefix", other); err == nil || !strings.Contains(said, "not what was released") {
		t.Errorf("a changed archive: %v\n%s", err, said)
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a changed archive left %s: %v", other, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if said, err := install("--prefix", other); err == nil || !strings.Contains(said, "cannot read") {
		t.Errorf("no archive: %v\n%s", err, said)
	}
	for _, args := range [][]string{{"--prefix", "relative"}, {"--prefix"}, {"--wrong"}} {
		if said, err := install(args...); err == nil {
			t.Errorf("%q was taken: %s", args, said)
		}
	}

	mine := filepath.Join(prefix, "bin", "mine")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := install("--prefix", prefix, "--uninstall"); err != nil {
		t.Fatalf("uninstall: %v\n%s", err, said)
	}
	var left []string
	err = filepath.WalkDir(prefix, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, path)
		}
		return err
	})
	if err != nil || !slices.Equal(left, []string{mine}) {
		t.Errorf("left after the removal: %q, %v", left, err)
	}
	if entries, err := os.ReadDir(work); err != nil || len(entries) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", entries, err)
	}
}

// TestShellcheckReadsTheScript has the script checked where shellcheck is installed.
func TestShellcheckReadsTheScript(t *testing.T) {
	program, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	inRoot(t)
	_, out := sample(t, Targets()...)
	if said, err := exec.Command(program, "-s", "sh", filepath.Join(out, "install.sh")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestManPages makes a page for each command.
func TestManPages(t *testing.T) {
	r := Release{Version: "9.8.7", Time: noon}
	pages, err := r.manPages(run.CommandLine())
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 60 {
		t.Errorf("only %d pages", len(pages))
	}
	for _, p := range pages {
		if !bytes.Contains(p.Data, []byte(`.SH SYNOPSIS`)) || !bytes.Contains(p.Data, []byte("adze 9.8.7")) {
			t.Errorf("%s is not whole:\n%.200s", p.Name, p.Data)
		}
	}
}

// TestTheReferenceIsThatOfTheProgram compares the committed pages with what the program and the
// schema say now.
func TestTheReferenceIsThatOfTheProgram(t *testing.T) {
	inRoot(t)
	dir := t.TempDir()
	if err := writeReference(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"commands.md", "settings.md"} {
		if !bytes.Equal(read(t, filepath.Join("docs", name)), read(t, filepath.Join(dir, name))) {
			t.Errorf("docs/%s is old; run: go run ./internal/tools/release -reference docs", name)
		}
	}
}

// TestEachModuleHasALicence gathers the licences of what is linked for this system.
func TestEachModuleHasALicence(t *testing.T) {
	inRoot(t)
	modules, err := linked(t.Context(), Target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		t.Fatal(err)
	}
	text, err := licenceText(t.Context(), modules)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Go go1", "modernc.org/sqlite v", "github.com/spf13/cobra v", "Apache License"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the licences do not hold %q", want)
		}
	}
	r := Release{Version: "9.8.7", URL: "https://example.org/9.8.7", Time: noon}
	bill, err := r.bill(Target{"linux", "amd64"}, runtime.Version(), modules)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		SPDXVersion string
		Packages    []struct{ SPDXID, Name, VersionInfo string }
	}
	if err := json.Unmarshal(bill, &read); err != nil || len(read.Packages) != len(modules)+2 {
		t.Errorf("the bill of materials: %v, %d parts of %d modules", err, len(read.Packages), len(modules))
	}
}

// TestWhatCannotBeReleasedIsRefused asks for releases that nobody could install.
func TestWhatCannotBeReleasedIsRefused(t *testing.T) {
	for _, r := range []Release{
		{URL: "https://example.org"}, {Version: "1.2.3"}, {Version: "1.2.3", URL: "http://example.org"},
		{Version: "1.2'3", URL: "https://example.org"}, {Version: "1.2.3", URL: "https://example.org/$(id)"},
	} {
		if r.check() == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	if err := (Release{Version: "1.2.3", URL: "https://example.org/adze"}).check(); err != nil {
		t.Error(err)
	}
	if _, err := chosen("plan9/mips"); err == nil {
		t.Error("a target that is not there is taken")
	}
}

// TestAReleaseIsTheSameTwice builds real programs twice. It takes minutes, so it is behind a
// variable.
func TestAReleaseIsTheSameTwice(t *testing.T) {
	list := os.Getenv("ADZE_RELEASE")
	if list == "" {
		t.Skip("ADZE_RELEASE=all, or a list of targets, builds them twice")
	}
	inRoot(t)
	var dirs []string
	for range 2 {
		dirs = append(dirs, filepath.Join(t.TempDir(), "dist"))
		args := []string{"-version", "9.8.7", "-url", "https://example.org/9.8.7", "-out", dirs[len(dirs)-1]}
		if list != "all" {
			args = append(args, "-only", list)
		}
		if err := start(t.Context(), args); err != nil {
			t.Fatal(err)
		}
		if list := read(t, filepath.Join(dirs[0], "SHA256SUMS")); len(list) == 0 {
			t.Fatal("no checksums")
		}
	}
	first, second := read(t, filepath.Join(dirs[0], "SHA256SUMS")), read(t, filepath.Join(dirs[1], "SHA256SUMS"))
	if !bytes.Equal(first, second) {
		t.Errorf("the same source gave other bytes:\n%s\n%s", first, second)
	}
	t.Logf("the same twice:\n%s", first)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func inTar(t *testing.T, raw []byte) []string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !head.ModTime.Equal(noon) || head.Uid != 0 || head.Uname != "" {
			t.Errorf("%s has the time %v and the owner %d %q", head.Name, head.ModTime, head.Uid, head.Uname)
		}
		out = append(out, head.Name)
	}
}
