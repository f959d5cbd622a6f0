package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
	"adze/tool"
)

// Offer is what a person may allow for longer than once, and what that means.
type Offer struct {
	Kind OfferKind
	// Rules are what is granted, exactly.
	Rules []string
	// Covers and Spares say by example what then is not asked any more, and what still is.
	Covers, Spares string

	grants []grant
}

// OfferKind says how far an offer goes.
type OfferKind string

// Kinds of offers, the narrowest first.
const (
	ExactOffer   OfferKind = "exact"   // these words, this file, this address
	ProgramOffer OfferKind = "program" // the program with its subcommand and any words
	FolderOffer  OfferKind = "folder"  // all below a folder, or a whole host
)

// Usual is the offer that is shown first: the program where it is offered, else the narrowest. -1:
// there is none.
func Usual(offers []Offer) int {
	for i, o := range offers {
		if o.Kind == ProgramOffer {
			return i
		}
	}
	return min(0, len(offers)-1)
}

// offersFor are what would answer all that is asked, the exact words first. None: one of it cannot
// be granted.
func offersFor(open []verdict) (out []Offer) {
	var parts []verdict
	for _, v := range open {
		if len(v.inner) > 0 {
			parts = append(parts, v.inner...)
		} else {
			parts = append(parts, v)
		}
	}
	if slices.ContainsFunc(parts, func(v verdict) bool { return v.rule != "" }) { // an ask rule wants to be asked each time
		return nil
	}
	for _, kind := range []struct {
		OfferKind
		part func(verdict) (grant, string, string)
	}{{ExactOffer, exactPart}, {ProgramOffer, programPart}, {FolderOffer, folderPart}} {
		o, ok := offerOf(parts, kind.part)
		o.Kind = kind.OfferKind
		if ok && !slices.ContainsFunc(out, func(other Offer) bool { return slices.Equal(other.Rules, o.Rules) }) {
			out = append(out, o)
		}
	}
	return out
}

// offerOf is one kind of offer for every part; false: a part has none.
func offerOf(parts []verdict, kind func(verdict) (grant, string, string)) (o Offer, ok bool) {
	for _, v := range parts {
		g, covers, spares := kind(v)
		if g.rule == "" {
			return Offer{}, false
		}
		if slices.Contains(o.Rules, g.rule) {
			continue
		}
		o.grants, o.Rules = append(o.grants, g), append(o.Rules, g.rule)
		if !strings.Contains(o.Covers, covers) {
			o.Covers, o.Spares = also(o.Covers, covers), also(o.Spares, spares)
		}
	}
	return o, len(parts) > 0
}

func also(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// exactPart is the very words, file or address.
func exactPart(v verdict) (g grant, covers, spares string) {
	kind := v.need.Permission
	switch {
	case len(v.words) > 0:
		g, _ = exactGrant(v.dir, v.words)
		return g, "the same words again, in the same folder", "other arguments, other folders, or the words behind sudo, env or sh -c"
	case len(v.offers) != 1:
		return grant{}, "", ""
	case kind == tool.Network:
		return v.offers[0], "every page at this address", "other hosts, other ports"
	}
	return v.offers[0], "a " + string(kind) + " of this one file, however often", "other files, or another kind of access to it"
}

// programPart is a program with its subcommand; of what is no program it is the very file or
// address.
func programPart(v verdict) (g grant, covers, spares string) {
	if len(v.words) == 0 {
		return exactPart(v)
	}
	if v.careful { // a rule for the program does not speak of such files
		return grant{}, "", ""
	}
	g.rule, covers, spares = wideCommand(v.words)
	return g, covers, spares
}

// folderPart is the folder of a file, or the host of an address.
func folderPart(v verdict) (g grant, covers, spares string) {
	switch kind := v.need.Permission; {
	case len(v.offers) != 1:
	case kind == tool.Network:
		g.rule, covers, spares = wideHost(v.target)
	case kind == tool.Read || kind == tool.Write:
		g.rule, covers, spares = wideFile(v)
	}
	return g, covers, spares
}

// exactGrant is the grant of one program with these words in this folder; false: it is none that
// may last.
func exactGrant(dir string, words []script.Word) (grant, bool) {
	s := simpleOf(words)
	if !lasting(s) || slices.ContainsFunc(s.words, func(w word) bool { return !w.known }) {
		return grant{}, false
	}
	key := append([]string{string(tool.Execute), dir}, texts(s.words)...)
	return grant{key: strings.Join(key, "\x00"), rule: fmt.Sprintf("allow execute(%s)", s)}, true
}

// wideCommand is the rule for a program with its subcommand and any words behind it.
func wideCommand(words []script.Word) (rule, covers, spares string) {
	s := simpleOf(words)
	if !lasting(s) || narrow(s) {
		return "", "", ""
	}
	head := []string{quoteWord(s.name())}
	if sub := subcommand(s); sub != "" {
		head = append(head, quoteWord(sub))
		if sub == "run" && len(s.words) > 2 && s.words[2].known && !strings.HasPrefix(s.words[2].text, "-") {
			head = append(head, quoteWord(s.words[2].text))
		}
	} else if hasSubcommands(s.name()) {
		return "", "", ""
	}
	start := strings.Join(head, " ")
	other := quoteWord(s.name()) + " with another subcommand"
	if len(head) == 1 {
		other = "other programs"
	}
	rule = fmt.Sprintf("execute(%s **)", start)
	spares = other + ", or the same behind sudo or sh -c"
	if r, err := ParseRule(Allow, User, rule); err == nil && r.Effects() != "" {
		spares += "; " + r.Effects()
	}
	return "allow " + rule, start + ", " + start + " with any options and names, in every folder", spares
}

// hasSubcommands lists programs whose first word chooses what they do.
func hasSubcommands(name string) bool {
	return oneOf(base(name), "git go npm pnpm yarn cargo docker podman kubectl helm terraform tofu gh glab brew apt apt-get dnf yum pacman apk pip pip3 "+
		"poetry pdm uv dotnet mvn gradle gem bundle mix composer systemctl svn hg jj aws gcloud az flyctl heroku vagrant conda rustup swift dart flutter make gmake just task ninja")
}

// subcommand is that word; "" where there is none, or options stand before it.
func subcommand(s simple) string {
	if !hasSubcommands(s.name()) || len(s.words) < 2 || !s.words[1].known || strings.HasPrefix(s.words[1].text, "-") {
		return ""
	}
	return s.words[1].text
}

// narrow lists programs of which only the exact words are offered: what they take away or send off
// does not come back.
func narrow(s simple) bool {
	name, sub := base(s.name()), subcommand(s)
	if sub == "" && len(s.words) > 1 && oneOf(name, "make gmake just task ninja") && s.words[1].known {
		sub = s.words[1].text
	}
	switch {
	case oneOf(name, "rm rmdir unlink shred dd mkfs fdisk parted mount umount kill pkill killall chmod chown chgrp mv ln truncate reboot shutdown halt poweroff "+
		"crontab curl wget nc ncat socat scp rsync sftp ftp telnet mail sendmail psql mysql sqlite3 mongo mongosh redis-cli gpg openssl sed tar unzip patch tee cp install"):
		return true
	case name == "git" && oneOf(sub, "push reset clean rm checkout restore switch config filter-branch filter-repo rebase remote submodule gc update-ref reflog bisect difftool mergetool worktree clone"):
		return true
	case oneOf(name, "npm pnpm yarn cargo gem pip pip3 poetry docker podman helm") && oneOf(sub, "publish unpublish login logout config exec run-script x dlx run") && !(oneOf(name, "npm pnpm yarn cargo") && sub == "run"):
		return true
	case name == "go" && oneOf(sub, "run tool env generate"):
		return true
	case oneOf(name, "kubectl terraform tofu aws gcloud az gh glab systemctl apt apt-get dnf yum pacman apk brew flyctl heroku"):
		return true
	}
	return false
}

// wideFile is the rule for the folder that a file lies in; of the workspace it is a folder below.
func wideFile(v verdict) (rule, covers, spares string) {
	if v.careful || v.place.Abs == "" {
		return "", "", ""
	}
	anchor, at := "abs:", v.place.Abs
	if !v.place.Outside {
		anchor, at = "work:", v.place.Rel
	}
	if !v.folder {
		at = path.Dir(at)
	}
	if at == "." || v.place.Outside && strings.Count(at, "/") < 2 { // all of the workspace, of /etc, or of the disk
		return "", "", ""
	}
	kind := string(v.need.Permission)
	return fmt.Sprintf("allow %s(%s%s/**)", kind, anchor, escapeGlob(at)), "a " + kind + " of every file below " + at, "files elsewhere, and files known for their secrets"
}

// wideHost is the rule for a host at the usual port of any scheme.
func wideHost(target string) (rule, covers, spares string) {
	a, err := parseAddress(target)
	if err != nil || a.port != usualPort(a.scheme) {
		return "", "", ""
	}
	return fmt.Sprintf("allow network(%s)", a.host), "every page of " + a.host + ", by http and https", "other hosts, hosts below it, and other ports"
}
