package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/project/discovery"
	"adze/session"
)

// made is a folder with skills of a project; names of other origins are written there too.
func made(t *testing.T, files map[string]string) (*Catalog, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(dir, "home")
	f := discovery.For(filepath.Join(home, ".config/adze"), home, filepath.Join(dir, "repo"))
	t.Cleanup(f.Close)
	return New(f.Find(t.Context(), discovery.Skill), home), dir
}

func skillFile(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n# %s\nDo it.\n", name, description, name)
}

func TestTheIndexIsSortedAndShort(t *testing.T) {
	s, _ := made(t, map[string]string{
		"repo/.claude/skills/zip/SKILL.md":        skillFile("zip", "Pack files.\U000E0041 Use when: packing"),
		"home/.agents/skills/pdf/SKILL.md":        skillFile("pdf", strings.Repeat("Fill forms. ", 40)),
		"repo/.claude/skills/pdf/SKILL.md":        skillFile("pdf", "Of the project"),
		"repo/.agents/skills/none/SKILL.md":       "---\nname: none\n---\n",
		"repo/.agents/skills/silent/SKILL.md":     "---\nname: silent\ndescription: d\ndisable-model-invocation: true\n---\n",
		"repo/.agents/skills/block/SKILL.md":      "---\ndescription: |\n  Two\n  lines\n---\n",
		"repo/.agents/skills/Upper Case/SKILL.md": "---\ndescription: d\n---\n",
	})
	got := s.Index(t.Context(), "", false)
	lines := strings.Split(got, "\n")
	if len(lines) != 4 || lines[1] != "- block: Two lines" || !strings.HasPrefix(lines[2], "- pdf: Fill forms.") || !strings.HasSuffix(lines[2], " …") || len(lines[2]) > 210 ||
		lines[3] != "- zip: Pack files.<U+E0041> Use when: packing" {
		t.Errorf("the index is\n%s", got)
	}
	if again := s.Index(t.Context(), "", false); again != got {
		t.Error("the index differs from itself")
	}
	if none, _ := made(t, nil); none != nil || none.Index(t.Context(), "", false) != "" || none.ReadableFolders("/") != nil {
		t.Error("there is a shelf without skills")
	}
}

func TestALongIndexKeepsItsBounds(t *testing.T) {
	for _, count := range []int{5, 30, 120} {
		files := map[string]string{}
		for n := range count {
			name := fmt.Sprintf("skill-%03d", n)
			files["repo/.agents/skills/"+name+"/SKILL.md"] = skillFile(name, fmt.Sprintf("Work of the kind %d, with much to say about how it is done and when", n))
		}
		s, _ := made(t, files)
		for _, slow := range []bool{false, true} {
			room := map[bool]int{false: usual, true: local}[slow]
			got := s.Index(t.Context(), "", slow)
			if len(got) > room {
				t.Errorf("%d skills: %d bytes, at most %d", count, len(got), room)
			}
			told := strings.Count(got, "skill-")
			if left := count - told; left > 0 && !strings.Contains(got, fmt.Sprintf("+%d: skill{query}", left)) {
				t.Errorf("%d skills, %d are told of, the rest is not counted:\n%s", count, told, got)
			}
		}
	}
}

// kinds are made skills, each with a prompt that it is for.
func kinds() map[string][2]string {
	return map[string][2]string{
		"pdf-forms":       {"Fill in and read PDF forms, extract tables from PDF files", "extract the table on page 3 of report.pdf"},
		"xlsx":            {"Create and edit Excel spreadsheets with formulas and charts", "add a sum column to the spreadsheet sales.xlsx"},
		"pptx":            {"Make PowerPoint presentations and slides", "make five slides about our roadmap"},
		"docx":            {"Write Word documents with headings and tracked changes", "write the contract as a word document"},
		"commit-message":  {"Write git commit messages in the style of this repository", "commit my changes"},
		"release-notes":   {"Write release notes and a changelog from merged pull requests", "write the changelog for version 2.1"},
		"db-migration":    {"Write and check database migrations for Postgres", "add a column to the users table in the database"},
		"react-component": {"Build React components with hooks and tests", "build a react component for the date picker"},
		"api-design":      {"Design REST endpoints and OpenAPI descriptions", "design the REST endpoints for invoices"},
		"docker":          {"Write Dockerfiles and compose files, make images small", "why is our docker image two gigabytes?"},
		"terraform":       {"Write Terraform modules for AWS", "add an S3 bucket with terraform"},
		"k8s-debug":       {"Debug Kubernetes pods, deployments and crash loops", "my pod is in a crash loop in kubernetes"},
		"security-review": {"Review code for security holes such as injection and XSS", "review this for sql injection"},
		"perf-profile":    {"Profile CPU and memory and find slow code", "find out why the parser is slow"},
		"flaky-tests":     {"Find and mend flaky tests", "the login test is flaky, mend it"},
		"i18n":            {"Translate texts of the interface and add languages", "translate the buttons to german"},
		"accessibility":   {"Check pages for accessibility, screen readers and contrast", "is the page usable with a screen reader?"},
		"css-layout":      {"Mend CSS layouts with flexbox and grid", "the css grid breaks on phones"},
		"regex":           {"Write and explain regular expressions", "explain this regular expression"},
		"graphql":         {"Write GraphQL schemas and resolvers", "add a resolver to the graphql schema"},
		"csv-clean":       {"Clean CSV data and find duplicates", "remove duplicate rows from data.csv"},
		"notebook":        {"Work with Jupyter notebooks", "run the cells of analysis.ipynb notebook"},
		"ml-train":        {"Train models with PyTorch and track experiments", "train the pytorch model again"},
		"image-resize":    {"Resize and convert images", "convert these images to webp"},
		"video-cut":       {"Cut and join video with ffmpeg", "cut the first ten seconds off the video"},
		"email-draft":     {"Draft emails in the tone of the company", "draft an email to the customer"},
		"incident":        {"Write incident reports after an outage", "write the report of last night's outage"},
		"onboarding":      {"Explain the repository to a new colleague", "explain this repository to a new colleague"},
		"license-check":   {"Check licences of dependencies", "which licences do our dependencies have?"},
		"dependency-bump": {"Update dependencies and read their release notes", "update all npm dependencies"},
		"rust-unsafe":     {"Review unsafe Rust code", "is the unsafe block in rust sound?"},
		"go-generics":     {"Use generics in Go well", "make this go function generic"},
		"java-spring":     {"Build Spring Boot services in Java", "add a controller to the spring service"},
		"ios-swift":       {"Build iOS screens in SwiftUI", "add a settings screen in swiftui"},
		"android-kotlin":  {"Build Android screens in Kotlin with Compose", "add an android screen with compose"},
		"shell-script":    {"Write portable shell scripts", "write a shell script that backs up the folder"},
		"github-actions":  {"Write GitHub Actions workflows", "add a github actions workflow that runs tests"},
		"monitoring":      {"Make Grafana dashboards and Prometheus alerts", "alert me in prometheus when the disk is full"},
		"feature-flags":   {"Add and remove feature flags", "remove the feature flag new_checkout"},
		"legal-privacy":   {"Write privacy policies under the GDPR", "update our privacy policy for the gdpr"},
	}
}

// Which descriptions stand in an index that is too long follows what is asked: where a tenth of the
// skills keep theirs, the one that is right is among them nine times in ten.
func TestTheIndexIsNarrowedToWhatIsAsked(t *testing.T) {
	files := map[string]string{}
	for name, k := range kinds() {
		files["repo/.agents/skills/"+name+"/SKILL.md"] = skillFile(name, k[0])
	}
	s, _ := made(t, files)
	described, named, found := 0, 0, 0
	for name, k := range kinds() {
		index := s.Index(t.Context(), k[1], true)
		if strings.Contains(index, "- "+name+": ") {
			described++
		}
		if strings.Contains(index, name) {
			named++
		}
		for _, f := range s.Find(t.Context(), k[1], 8) {
			if f.Name == name {
				found++
			}
		}
	}
	all := len(kinds())
	t.Logf("of %d skills: described in an index of %d bytes %d, named there %d, found by query %d", all, local, described, named, found)
	if named*10 < all*9 || found*10 < all*9 {
		t.Errorf("of %d: named %d, found %d", all, named, found)
	}
}

func TestASkillIsLoaded(t *testing.T) {
	files := map[string]string{
		"home/.claude/skills/pdf/SKILL.md":        skillFile("pdf", "d"),
		"home/.claude/skills/pdf/scripts/fill.py": "x", "home/.claude/skills/pdf/.secret": "x",
	}
	for n := range 60 {
		files[fmt.Sprintf("home/.claude/skills/pdf/refs/%02d.md", n)] = "x"
	}
	s, dir := made(t, files)
	got, err := s.Load(t.Context(), "s1", "PDF")
	if err == nil {
		t.Error("a name in other letters was taken:", got.Name)
	}
	got, err = s.Load(t.Context(), "s1", "/pdf")
	if err != nil || got.Source != "~/.claude/skills/pdf/SKILL.md" || got.Folder != filepath.Join(dir, "home/.claude/skills/pdf") || len(got.Files) != maxFiles || got.MoreFiles != 11 || !strings.Contains(got.Text(), "Do it.") {
		t.Fatalf("%+v, %v", got, err)
	}
	s.InContext = func(id, sha string) bool { return id == "s1" && sha == got.SHA256 }
	if again, _ := s.Load(t.Context(), "s1", "pdf"); !again.InContext {
		t.Error("it is told again")
	}
	if other, _ := s.Load(t.Context(), "s2", "pdf"); other.InContext {
		t.Error("another session is taken to have it")
	}
	history := []session.Message{{Role: session.User, Notes: []session.Note{Note(got, "x")}}}
	if !Holds(history, got.SHA256) || Holds(history, "other") {
		t.Error("a note of it is not known")
	}
	if lent := s.ReadableFolders(filepath.Join(dir, "repo")); len(lent) != 1 || lent[0] != got.Folder {
		t.Errorf("lent are %q", lent)
	}
	if err := os.WriteFile(filepath.Join(dir, "home/.claude/skills/pdf/SKILL.md"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Load(t.Context(), "s1", "pdf"); err != nil || again.InContext || !strings.Contains(again.Body, "changed") {
		t.Errorf("after a change: %+v, %v", again, err)
	}
}

// A skill that lies in a folder with more than itself lends nothing of that.
func TestNothingWideIsLent(t *testing.T) {
	s, dir := made(t, map[string]string{"home/SKILL.md": skillFile("x", "d"), "home/.claude/skills/.keep": ""})
	if s != nil {
		t.Fatal("found", s.items)
	}
	if err := os.Symlink("../../..", filepath.Join(dir, "home/.claude/skills/x")); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	f := discovery.For("", home, filepath.Join(dir, "home"))
	defer f.Close()
	if lent := New(f.Find(t.Context(), discovery.Skill), home).ReadableFolders("/elsewhere"); len(lent) != 0 {
		t.Errorf("lent are %q", lent)
	}
}
