package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Target is a system and a processor.
type Target struct{ System, Arch string }

// Targets returns all supported targets.
func Targets() []Target {
	return []Target{
		{"darwin", "amd64"}, {"darwin", "arm64"},
		{"linux", "amd64"}, {"linux", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"},
	}
}

func (t Target) String() string { return t.System + "/" + t.Arch }

func (t Target) program() string {
	if t.System == "windows" {
		return "adze.exe"
	}
	return "adze"
}

func (t Target) archive(version string) string {
	ext := ".tar.gz"
	if t.System == "windows" {
		ext = ".zip"
	}
	return fmt.Sprintf("adze_%s_%s_%s%s", version, t.System, t.Arch, ext)
}

// A Release describes a release to make.
type Release struct {
	Version    string
	URL        string    // download folder, without a trailing slash
	Time       time.Time // for each file
	Out        string    // output folder
	Targets    []Target
	Packages   bool   // also deb, rpm and apk
	Maintainer string // for packages
}

// Make writes the release. The folder appears complete or not at all.
func (r Release) Make(ctx context.Context) error {
	if _, err := os.Lstat(r.Out); err == nil {
		return fmt.Errorf("%s is there already; remove it or say another -out", r.Out)
	}
	parent := filepath.Dir(filepath.Clean(r.Out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(parent, ".release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	out := filepath.Join(work, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	common, err := r.commonFiles()
	if err != nil {
		return err
	}
	for _, t := range r.Targets {
		fmt.Fprintf(os.Stderr, "release: %s\n", t)
		binary := filepath.Join(work, t.System+"-"+t.Arch, t.program())
		if err := r.build(ctx, t, binary); err != nil {
			return err
		}
		if err := r.pack(ctx, t, binary, common, out); err != nil {
			return err
		}
	}
	if err := r.finish(out); err != nil {
		return err
	}
	return os.Rename(out, r.Out)
}

// build compiles the program without local paths and settings.
func (r Release) build(ctx context.Context, t Target, to string) error {
	flags := strings.Join([]string{"-s", "-w", "-X", "adze/internal/run/process.Version=" + r.Version, "-X", "adze/internal/cmd.ReleaseURL=" + r.URL}, " ")
	_, err := output(ctx, t.environment(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", to, ".")
	return err
}

// pack writes a target's archive, bill of materials, and packages.
func (r Release) pack(ctx context.Context, t Target, binary string, common []File, out string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	licences, bill, err := r.contents(ctx, t, binary)
	if err != nil {
		return err
	}
	files := append(slices.Clone(common), File{Name: t.program(), Mode: 0o755, Data: program}, File{Name: "THIRD_PARTY_LICENSES.txt", Mode: 0o644, Data: licences})
	packed, err := archive(t, strings.TrimSuffix(strings.TrimSuffix(t.archive(r.Version), ".zip"), ".tar.gz"), files, r.Time)
	if err != nil {
		return err
	}
	name := filepath.Join(out, t.archive(r.Version))
	if err := os.WriteFile(name, packed, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(name+".spdx.json", bill, 0o644); err != nil {
		return err
	}
	if t.System == "linux" && r.Packages {
		return r.packages(ctx, t, files, out)
	}
	return nil
}

// finish writes the files about others: checksums, formula, manifest, scripts.
func (r Release) finish(out string) error {
	sums, err := checksums(out)
	if err != nil {
		return err
	}
	made, err := r.manifests(sums)
	if err != nil {
		return err
	}
	for _, f := range made {
		if err := os.WriteFile(filepath.Join(out, f.Name), f.Data, f.Mode); err != nil {
			return err
		}
	}
	if sums, err = checksums(out); err != nil {
		return err
	}
	var text strings.Builder
	for _, s := range sums {
		fmt.Fprintf(&text, "%s  %s\n", s.Sum, s.Name)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(text.String()), 0o644)
}

// A Sum is a file's SHA-256.
type Sum struct{ Name, Sum string }

func checksums(dir string) ([]Sum, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Sum
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(raw)
		out = append(out, Sum{e.Name(), hex.EncodeToString(sum[:])})
	}
	return out, nil
}
