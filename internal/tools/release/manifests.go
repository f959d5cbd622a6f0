package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
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
	add := func(name string, mode os.FileMode) error {
		raw, err := templates.ReadFile(path.Join("files", name+".tmpl"))
		if err != nil {
			return err
		}
		t, err := template.New(name).Option("missingkey=error").Parse(string(raw))
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, File{Name: name, Mode: mode, Data: text.Bytes()})
		return nil
	}
	if err := add("install.sh", 0o755); err != nil {
		return nil, err
	}
	if err := add("install.ps1", 0o644); err != nil {
		return nil, err
	}
	all := func(targets ...string) bool {
		for _, t := range targets {
			if data.Of[t].Sum == "" {
				return false
			}
		}
		return true
	}
	if all("darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64") {
		if err := add("adze.rb", 0o644); err != nil {
			return nil, err
		}
	}
	if all("windows/amd64", "windows/arm64") {
		raw, err := r.scoop(data.Of["windows/amd64"].Sum, data.Of["windows/arm64"].Sum)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Name: "adze.json", Mode: 0o644, Data: raw})
	}
	return out, nil
}

// scoop returns a manifest per https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests.
func (r Release) scoop(amd64, arm64 string) ([]byte, error) {
	of := func(arch, sum string) map[string]any {
		name := Target{"windows", arch}.archive(r.Version)
		return map[string]any{"url": r.URL + "/" + name, "hash": sum, "extract_dir": strings.TrimSuffix(name, ".zip")}
	}
	return json.MarshalIndent(map[string]any{
		"version": r.Version, "description": about, "homepage": r.URL, "license": "MIT", "bin": "adze.exe",
		"architecture": map[string]any{"64bit": of("amd64", amd64), "arm64": of("arm64", arm64)},
	}, "", "    ")
}

// packages makes a deb, an rpm and an apk with nfpm, which .ci/release/go.mod pins.
func (r Release) packages(ctx context.Context, t Target, files []File, out string) error {
	work, err := os.MkdirTemp(filepath.Dir(out), "nfpm-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var contents []any
	add := func(from, to string, mode int) {
		contents = append(contents, map[string]any{"src": from, "dst": to, "file_info": map[string]any{
			"mode": mode, "mtime": r.Time.Format("2006-01-02T15:04:05Z"), "owner": "root", "group": "root"}})
	}
	for _, f := range files {
		to := packaged(f.Name)
		if to == "" {
			continue
		}
		from := filepath.Join(work, fmt.Sprint(len(contents)))
		if err := os.WriteFile(from, f.Data, f.Mode); err != nil {
			return err
		}
		add(from, to, int(f.Mode.Perm()))
	}
	profile, scripts, err := apparmor()
	if err != nil {
		return err
	}
	add(profile, "/usr/share/adze/apparmor", 0o644)
	// JSON is YAML and needs no manual quoting.
	raw, err := json.MarshalIndent(map[string]any{
		"name": "adze", "arch": t.Arch, "platform": "linux", "version": "${PACKAGE_VERSION}", "version_schema": "none", "release": "1",
		"maintainer": r.Maintainer, "description": about, "homepage": r.URL, "license": "MIT", "section": "devel",
		"mtime": r.Time.Format("2006-01-02T15:04:05Z"), "recommends": []string{"git"}, "suggests": []string{"ripgrep"},
		"rpm": map[string]any{"buildhost": "adze"}, "contents": contents, "scripts": scripts,
	}, "", "  ")
	if err != nil {
		return err
	}
	config := filepath.Join(work, "nfpm.yaml")
	if err := os.WriteFile(config, raw, 0o644); err != nil {
		return err
	}
	for kind, mark := range prereleases {
		if _, err := output(ctx, []string{"GOFLAGS=", "SOURCE_DATE_EPOCH=" + fmt.Sprint(r.Time.Unix()), "PACKAGE_VERSION=" + mark.Replace(r.Version)}, "go", "tool", "-modfile="+filepath.FromSlash(".ci/release/go.mod"), "nfpm", "package", "-f", config, "-p", kind, "-t", filepath.Join(out, fmt.Sprintf("adze_%s_%s.%s", r.Version, t.Arch, kind))); err != nil {
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

// apparmor returns the profile that lets adze make namespaces, and the scripts that load and unload
// it, as absolute paths.
func apparmor() (profile string, scripts map[string]string, err error) {
	dir, err := filepath.Abs(filepath.Join("deploy", "apparmor"))
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir, "adze"), map[string]string{"postinstall": filepath.Join(dir, "postinstall"), "postremove": filepath.Join(dir, "postremove")}, nil
}

// packaged returns a file's path in a Linux package, or "".
func packaged(name string) string {
	switch dir, base := path.Split(name); {
	case name == "adze":
		return "/usr/bin/adze"
	case dir == "man/":
		return "/usr/share/man/man1/" + base
	case name == "completions/adze.bash":
		return "/usr/share/bash-completion/completions/adze"
	case name == "completions/_adze":
		return "/usr/share/zsh/site-functions/_adze"
	case name == "completions/adze.fish":
		return "/usr/share/fish/vendor_completions.d/adze.fish"
	case dir == "completions/":
		return ""
	}
	return "/usr/share/doc/adze/" + name
}
