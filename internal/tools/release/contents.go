package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// contents returns the licenses of everything linked into a binary, and its bill of materials.
func (r Release) contents(ctx context.Context, t Target, binary string) (licences, bill []byte, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, nil, err
	}
	modules, err := linked(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	if licences, err = licenceText(ctx, modules); err != nil {
		return nil, nil, err
	}
	bill, err = r.bill(t, info.GoVersion, modules)
	return licences, bill, err
}

// A Module has packages in the program.
type Module struct {
	Path, Version string
	Sum           string   // as in go.sum
	Dir           string   // its source
	Packages      []string // folders of the linked packages, below Dir
}

func linked(ctx context.Context, t Target) ([]Module, error) {
	raw, err := output(ctx, t.environment(), "go", "list", "-deps", "-json=Dir,Standard,Module", ".")
	if err != nil {
		return nil, err
	}
	byPath := map[string]*Module{}
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir, Sum string
				Main                    bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list what is linked: %w", err)
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &Module{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir, Sum: p.Module.Sum}
			byPath[m.Path] = m
		}
		m.Packages = append(m.Packages, p.Dir)
	}
	out := make([]Module, 0, len(byPath))
	for _, m := range byPath {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// licenceName matches names of license and notice files.
var licenceName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents)([-._].*)?$`)
})

// licenceText returns one text with the licenses of Go and each module. A module without one is an
// error: it may not be distributed.
func licenceText(ctx context.Context, modules []Module) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("adze is linked with the following. Each part stands under its own licence.\n")
	root, err := output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goLicence, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(root)), "LICENSE"))
	if err != nil {
		return nil, fmt.Errorf("the licence of Go: %w", err)
	}
	writeLicence(&out, "Go "+runtime.Version(), goLicence)
	for _, m := range modules {
		files, err := licenceFiles(m)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s@%s has no licence", m.Path, m.Version)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			within, _ := filepath.Rel(m.Dir, f)
			writeLicence(&out, m.Path+" "+m.Version+", "+filepath.ToSlash(within), raw)
		}
	}
	return out.Bytes(), nil
}

func writeLicence(out *bytes.Buffer, title string, text []byte) {
	fmt.Fprintf(out, "\n%s\n%s\n\n%s\n", title, strings.Repeat("-", len(title)), bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
}

// licenceFiles finds the licenses between a module's packages and its root.
func licenceFiles(m Module) ([]string, error) {
	dirs := []string{m.Dir}
	for _, p := range m.Packages {
		for ; len(p) > len(m.Dir); p = filepath.Dir(p) {
			dirs = append(dirs, p)
		}
	}
	slices.Sort(dirs)
	var out []string
	for _, dir := range slices.Compact(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && licenceName().MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out, nil
}

// bill returns a bill of materials in SPDX 2.3, https://spdx.github.io/spdx-spec/v2.3/.
func (r Release) bill(t Target, goVersion string, modules []Module) ([]byte, error) {
	const none = "NOASSERTION"
	var parts, relations []any
	add := func(id, name, version, download, licence, purl, comment string) {
		part := map[string]any{"SPDXID": "SPDXRef-" + id, "name": name, "versionInfo": version, "downloadLocation": download, "filesAnalyzed": false,
			"licenseConcluded": none, "licenseDeclared": licence, "copyrightText": none}
		relation := map[string]string{"spdxElementId": "SPDXRef-adze", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-" + id}
		if purl == "" {
			part["licenseConcluded"] = licence
			relation = map[string]string{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-" + id}
		} else {
			part["externalRefs"] = []any{map[string]string{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}}
		}
		if comment != "" {
			part["comment"] = comment
		}
		parts, relations = append(parts, part), append(relations, relation)
	}
	goVersion = strings.TrimPrefix(goVersion, "go")
	add("adze", "adze", r.Version, r.URL+"/"+t.archive(r.Version), "MIT", "", "")
	add("go", "go", goVersion, "https://go.dev/dl/", "BSD-3-Clause", "pkg:golang/stdlib@"+goVersion, "")
	for i, m := range modules {
		add(fmt.Sprintf("module-%d", i+1), m.Path, m.Version, "https://"+m.Path, none, "pkg:golang/"+m.Path+"@"+m.Version, strings.TrimSuffix("go.sum "+m.Sum, "go.sum "))
	}
	return json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": fmt.Sprintf("adze-%s-%s-%s", r.Version, t.System, t.Arch),
		"documentNamespace": r.URL + "/" + t.archive(r.Version) + ".spdx.json",
		"creationInfo":      map[string]any{"created": r.Time.Format("2006-01-02T15:04:05Z"), "creators": []string{"Tool: adze-release"}},
		"packages":          parts, "relationships": relations,
	}, "", "  ")
}
