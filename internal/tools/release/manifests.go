package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed files
var templates embed.FS

const about = "A coding assistant for the terminal"

// manifests returns the files for installers: a formula, a manifest, two scripts. They include the
// archives' checksums, so a changed archive is refused.
func (r Release) manifests(sums []Sum) ([]File, error) {
	type row struct{ System, Arch, Archive, Sum string }
	data := struct {
		Version, URL, About string
		Rows                []row
		Of                  map[string]row // by system/arch
	}{Version: r.Version, URL: r.URL, About: about, Of: map[string]row{}}
	for _, t := range r.Targets {
		for _, s := range sums {
			if s.Name == t.archive(r.Version) {
				one := row{t.System, t.Arch, s.Name, s.Sum}
				data.Rows = append(data.Rows, one)
				data.Of[t.String()] = one
			}
		}
	}
	var out []File
	needs := map[string]string{"adze.rb": "darwin/amd64 darwin/arm64 linux/amd64 linux/arm64", "adze.json": "windows/amd64 windows/arm64"}
	for _, name := range []string{"install.sh", "install.ps1", "adze.rb", "adze.json"} {
		if slices.ContainsFunc(strings.Fields(needs[name]), func(t string) bool { return data.Of[t].Sum == "" }) {
			continue
		}
		t, err := template.New(name+".tmpl").Option("missingkey=error").ParseFS(templates, "files/"+name+".tmpl")
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, data); err != nil {
			return nil, err
		}
		mode := os.FileMode(0o644)
		if name == "install.sh" {
			mode = 0o755
		}
		out = append(out, File{Name: name, Mode: mode, Data: text.Bytes()})
	}
	return out, nil
}

// packages makes a deb, an rpm and an apk with nfpm, which .ci/release pins and configures.
func (r Release) packages(ctx context.Context, t Target, files []File, out string) error {
	stage, err := os.MkdirTemp(filepath.Dir(out), "nfpm-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	profile, err := os.ReadFile("deploy/apparmor/adze")
	if err != nil {
		return err
	}
	for _, f := range append(slices.Clone(files), File{Name: "apparmor", Mode: 0o644, Data: profile}) {
		at := filepath.Join(stage, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, f.Data, f.Mode), os.Chmod(at, f.Mode), os.Chtimes(at, r.Time, r.Time)); err != nil {
			return err
		}
	}
	env := []string{"GOFLAGS=", "SOURCE_DATE_EPOCH=" + fmt.Sprint(r.Time.Unix()), "STAGE=" + stage, "ARCH=" + t.Arch, "HOMEPAGE=" + r.URL, "MAINTAINER=" + r.Maintainer}
	for kind, mark := range prereleases {
		if _, err := output(ctx, append(env, "PACKAGE_VERSION="+mark.Replace(r.Version)), "go", "tool", "-modfile=.ci/release/go.mod", "nfpm", "package",
			"-f", ".ci/release/nfpm.yaml", "-p", kind, "-t", filepath.Join(out, fmt.Sprintf("adze_%s_%s.%s", r.Version, t.Arch, kind))); err != nil {
			return err
		}
	}
	return nil
}

// prereleases converts a version so that each package format sorts it before its release.
var prereleases = map[string]*strings.Replacer{
	"deb": strings.NewReplacer("-", "~"), "rpm": strings.NewReplacer("-", "~"),
	"apk": strings.NewReplacer("-alpha.", "_alpha", "-beta.", "_beta", "-rc.", "_rc"),
}
