package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/sight"
)

// host is what a sandbox must know of the machine.
type host struct {
	private []string // folders that commands get empty
	kept    []string // what programs need of them
	steers  bool     // this is root, who steers the whole machine by files of /proc, whatever rights it has given up (fs/proc/proc_sysctl.c)
	scratch uint64   // bytes of each private folder
	memory  uint64   // of the machine; 0: unknown
}

// of looks at the machine anew for each command: which secret folders are there can change. Its memory was found out
// before, and stays.
func (last host) of(g *sight.Glance) host {
	h := host{memory: last.memory}
	h.scratch = 2 << 30
	if h.memory > 0 {
		h.scratch = min(h.scratch, h.memory/8)
	}
	for _, path := range []string{"/tmp", "/var/tmp", "/run"} {
		if real, ok := g.Real(path); ok && !slices.Contains(h.private, real) && real != "/" {
			h.private = append(h.private, real)
		}
	}
	for _, path := range []string{"/etc/resolv.conf"} {
		if real, ok := g.Real(path); ok && slices.ContainsFunc(h.private, func(dir string) bool { return within(real, dir) }) {
			h.kept = append(h.kept, real)
		}
	}
	h.steers = os.Geteuid() == 0
	return h
}

// bounds are the most that the processes of one command may take.
func (h host) bounds(o Options) (memory, processes uint64) {
	memory = cmp.Or(o.Memory, h.memory/4*3)
	return memory, cmp.Or(o.Processes, 4096)
}

// hidden lists what is there of the secret places, free of links.
func (h host) hidden(g *sight.Glance, o Options) []string {
	var out []string
	add := func(path string) {
		real, ok := g.Real(path)
		if !ok || real == "/" {
			return
		}
		if slices.ContainsFunc(out, func(dir string) bool { return within(real, dir) }) ||
			slices.ContainsFunc(h.private, func(dir string) bool { return within(real, dir) && !within(o.Workspace, dir) }) {
			return
		}
		out = slices.DeleteFunc(out, func(inner string) bool { return within(inner, real) })
		out = append(out, real)
	}
	for _, path := range o.Own {
		add(path)
	}
	for _, path := range present(g, o.Home, secretNames()) {
		add(path)
	}
	if os.Geteuid() == 0 {
		for _, path := range rootSecrets(g) {
			add(path)
		}
	}
	return out
}

// present are the paths of those names that are there below dir. It reads each folder once, because a hundred looks at
// single names take longer than all else that is done for a command.
func present(g *sight.Glance, dir string, names []string) (out []string) {
	if dir == "" {
		return nil
	}
	for _, name := range names {
		at, here := dir, true
		for step := range strings.SplitSeq(name, "/") {
			entries, _ := g.Names(at)
			if here = entries[step]; !here {
				break
			}
			at = filepath.Join(at, step)
		}
		if here {
			out = append(out, at)
		}
	}
	return out
}

// secretNames are places of a person's home that hold keys, passwords or a running session: of ssh and gpg, of clouds and their
// tools, of registries and version control, of browsers, mail and key rings, of databases, and the sockets of agents.
func secretNames() []string {
	return []string{
		".ssh", ".gnupg", ".pki", ".password-store", ".local/share/keyrings", ".kde/share/apps/kwallet", ".local/share/kwalletd", ".config/keepassxc",
		".config/op", ".1password", ".config/1Password", ".config/Bitwarden", ".config/Bitwarden CLI", ".bitwarden", ".age", ".config/sops", ".vault-token", ".step",
		".aws", ".azure", ".config/gcloud", ".config/doctl", ".oci", ".aliyun", ".bluemix", ".config/hcloud", ".config/linode-cli", ".config/scw", ".fly", ".config/heroku",
		".terraform.d", ".terraformrc", ".pulumi", ".kube", ".config/helm", ".docker", ".config/containers", ".local/share/containers", ".colima", ".lima", ".orbstack", ".rd", ".minikube", ".config/rclone",
		".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub", ".config/tea", ".npmrc", ".yarnrc.yml", ".pypirc", ".config/pypoetry/auth.toml", ".gem/credentials", ".cargo/credentials",
		".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".composer/auth.json", ".config/composer/auth.json", ".sbt/.credentials",
		".pgpass", ".my.cnf", ".mylogin.cnf", ".dbshell", ".psql_history", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history",
		".mozilla", ".thunderbird", ".config/google-chrome", ".config/google-chrome-beta", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".config/Signal", ".config/Slack",
		".config/discord", ".cache/mozilla", ".cache/google-chrome", ".cache/chromium", "snap/firefox", "snap/chromium", ".var/app", ".config/Code/User/globalStorage", ".config/Cursor/User/globalStorage",
		".anthropic", ".claude", ".claude.json", ".config/claude", ".codex", ".gemini", ".config/openai", ".openai", ".huggingface", ".cache/huggingface/token", ".config/github-copilot", ".config/adze", ".local/state/adze",
		".Xauthority", ".ICEauthority", ".dbus", ".config/filezilla", ".config/remmina", ".local/share/remmina", ".config/evolution", ".local/share/evolution",
		"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Application Support/com.apple.TCC",
	}
}

// rootSecrets are files that only root can read, for the case that it is root who runs adze.
func rootSecrets(g *sight.Glance) []string {
	paths := []string{"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet"}
	names, _ := g.Names("/etc/ssh")
	for name := range names {
		if strings.HasPrefix(name, "ssh_host_") && strings.HasSuffix(name, "_key") {
			paths = append(paths, "/etc/ssh/"+name)
		}
	}
	slices.Sort(paths) // names come in any order
	return paths
}

// strangeSockets are the sockets of other programs by which a command could get out: a read-only folder does not keep
// from connecting. Those in private folders are not there anyway; those in the workspace belong to it.
func strangeSockets(g *sight.Glance, private []string, workspace string) []string {
	var out []string
	for line := range strings.Lines(readKernel("/proc/net/unix")) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 8)
		path := f[len(f)-1]
		if len(f) < 8 || !strings.HasPrefix(path, "/") || within(path, workspace) ||
			slices.ContainsFunc(private, func(dir string) bool { return within(path, dir) }) {
			continue
		}
		real, ok := g.Real(path)
		if !ok || within(real, workspace) || slices.Contains(out, real) {
			continue
		}
		if g.Mark(real).Is(unix.S_IFSOCK) {
			out = append(out, real)
		}
	}
	return out
}

// readKernel reads a file of the kernel's by the calls that this takes; empty where that fails. Package os makes twice as
// many, because it asks first how long the file is, and whether it may block.
func readKernel(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	buf := make([]byte, 0, 16<<10)
	for {
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return ""
		case n <= 0:
			return string(buf)
		default:
			buf = slices.Grow(buf[:len(buf)+n], 4<<10)
		}
	}
}

// machineMemory is what the machine has, in bytes; 0 where it does not tell.
func machineMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "MemTotal:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(line, " kB")), 10, 64)
	return kib << 10
}
