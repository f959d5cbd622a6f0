package policy

import "strings"

// git looks at what git runs because its own words say so: an alias or a setting given with -c, a
// word after !, and ext:: addresses.
func (r *reader) git(args []word, depth int) {
	for i, a := range args {
		if !a.known {
			continue
		}
		setting := ""
		switch {
		case i > 0 && args[i-1].text == "-c":
			setting = a.text
		case strings.HasPrefix(a.text, "--config-env"), strings.HasPrefix(a.text, "--exec-path="):
			r.unknown("git takes a setting from elsewhere")
		case strings.HasPrefix(a.text, "-c") && len(a.text) > 2:
			setting = a.text[2:]
		}
		if name, value, ok := strings.Cut(setting, "="); ok {
			r.gitSetting(name, value, depth)
		}
		if _, text, ok := strings.Cut(a.text, "ext::"); ok {
			r.text(word{text: text, known: true}, depth)
		}
		if text, ok := strings.CutPrefix(a.text, "!"); ok {
			r.text(word{text: text, known: true}, depth)
		}
	}
}

func (r *reader) gitSetting(name, value string, depth int) {
	text, command := strings.CutPrefix(value, "!")
	if strings.HasPrefix(strings.ToLower(name), "alias.") && !command {
		text = "git " + value
	}
	r.text(word{text: text, known: true}, depth)
}

// globals are the options of well-known programs that stand before a subcommand and take the next
// word.
func globals(program string) string {
	switch program {
	case "git":
		return "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source"
	case "go":
		return "-C"
	case "npm", "pnpm", "yarn", "bun":
		return "--prefix -C --dir --cwd --workspace -w --filter -F --registry --userconfig --globalconfig --cache --loglevel --script-shell --use-yarnrc --modules-folder"
	case "docker", "podman", "nerdctl":
		return "-c --context -H --host --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile --project-directory --env-file --parallel --ansi --url --connection --root --runroot --storage-driver -a --address -n --namespace"
	case "kubectl", "oc":
		return "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name -v --v --password --username --profile --profile-output --log-flush-frequency --vmodule"
	case "cargo":
		return "-C --config --color -Z --explain --manifest-path"
	case "helm":
		return "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-user --kube-as-group --kube-ca-file --kube-token --kube-tls-server-name --registry-config --repository-cache --repository-config --burst-limit --qps"
	case "gh", "glab":
		return "-R --repo --hostname"
	case "terraform", "tofu", "terragrunt":
		return "-chdir"
	case "systemctl":
		return "-t --type --state -p --property -P -H --host -M --machine -n --lines -o --output --root --image --job-mode -s --signal --kill-who --kill-whom --what --check-inhibitors --preset-mode --timestamp"
	case "apt", "apt-get", "aptitude", "apt-cache":
		return "-o --option -c --config-file -t --target-release --default-release -a --host-architecture -q="
	case "pip", "pip3", "uv", "poetry", "pipenv":
		return "--python --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --cache-dir --keyring-provider --use-feature --use-deprecated --directory --project --config-file --color -C -P"
	case "dnf", "yum", "zypper", "pacman", "apk", "brew":
		return "-c --config --installroot --releasever --enablerepo --disablerepo --setopt -d -e -x --root -R -p -X --repository --repositories-file --keys-dir --cache-dir --dbpath --arch"
	case "aws", "gcloud", "az":
		return "--profile --region --output --endpoint-url --query --project --account --configuration --format --subscription --ca-bundle --cli-read-timeout --cli-connect-timeout --color --impersonate-service-account --verbosity"
	case "svn", "hg", "jj":
		return "--config-dir --config-option --username --password -R --repository --cwd --config --encoding --color --at-operation --at-op --config-toml --config-file"
	case "make", "gmake", "ninja":
		return "-C -f -I -j -l -o -W --directory --file --makefile"
	case "ansible", "vagrant", "rustup", "conda", "mvn", "gradle", "bazel", "bazelisk", "dotnet", "composer", "bundle", "flutter", "pulumi", "flyctl", "fly", "heroku":
		return "-n --name -p --prefix -f --file -C -d --working-dir -c --cwd -s --stack -a --app -t --access-token -P -pl -T -b -I -g -D --output_base --gemfile"
	}
	return ""
}

// anywhere stands for all places, behind a value that may be many words.
const anywhere = -1

// afterOptions finds where a subcommand may stand: behind the options at the start of words, and
// behind their values. Of an option that no table knows it is uncertain whether it takes the next
// word.
func afterOptions(program string, words []word) map[int]certainty {
	table := globals(program)
	ends := map[int]certainty{}
	at := map[int]certainty{0: sure}
	for i, w := range words {
		c, reached := at[i]
		if !reached || !w.known || !strings.HasPrefix(w.text, "-") || w.text == "-" {
			continue
		}
		one, two := c, no
		switch {
		case oneOf(w.text, table):
			one, two = no, c
		case table == "" && !strings.Contains(w.text, "=") && w.text != "--":
			two = possible
		}
		if two > no && i+1 < len(words) && !words[i+1].known && !words[i+1].whole {
			ends[anywhere] = possible // the value may be many words
		}
		for step, c := range map[int]certainty{1: one, 2: two} {
			if c > no {
				at[i+step] = max(at[i+step], c)
				ends[i+step] = max(ends[i+step], c)
			}
		}
	}
	return ends
}
