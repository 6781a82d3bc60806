package clichain

import (
	"net"
	"os"
	"runtime"
	"strings"
)

// surrounding is a container, a sandbox or a CI job around this process.
type surrounding struct {
	code, name string
	sign       string // what shows it: a variable or a file
	hint       string
}

const (
	ciHint      = "give the key of a CLI as a secret in the environment of the step; no terminal is needed"
	isolateHint = "mount the CLI's credential file, or pass its key in the environment"
)

// knownSurroundings are looked for in this order.
var knownSurroundings = []struct {
	surrounding
	env   string // set
	unset string // not set
	file  string
}{
	{surrounding: surrounding{code: "nix_build", name: "a Nix build", hint: "set SKIP_CLI=1 in the derivation: a build has no network"}, env: "NIX_BUILD_TOP", unset: "IN_NIX_SHELL"},
	{surrounding: surrounding{code: "docker", name: "a Docker container", hint: isolateHint}, file: "/.dockerenv"},
	{surrounding: surrounding{code: "container", name: "a container", hint: isolateHint}, file: "/run/.containerenv"},
	{surrounding: surrounding{code: "container", name: "a pod of Kubernetes", hint: isolateHint}, env: "KUBERNETES_SERVICE_HOST"},
	{surrounding: surrounding{code: "bubblewrap", name: "a Flatpak sandbox (bubblewrap)", hint: isolateHint}, file: "/.flatpak-info"},
	{surrounding: surrounding{code: "github_actions", name: "a job of GitHub Actions", hint: ciHint}, env: "GITHUB_ACTIONS"},
	{surrounding: surrounding{code: "gitlab_ci", name: "a job of GitLab CI", hint: ciHint}, env: "GITLAB_CI"},
}

// surroundings lists what is around this process, as far as it shows.
func surroundings() (found []surrounding) {
	for _, k := range knownSurroundings {
		s := k.surrounding
		switch {
		case k.env != "" && os.Getenv(k.env) != "" && (k.unset == "" || os.Getenv(k.unset) == ""):
			s.sign = k.env
		case k.file != "" && exists(k.file):
			s.sign = k.file
		default:
			continue
		}
		found = append(found, s)
	}
	if runtime.GOOS == "linux" {
		if name, err := os.ReadFile("/proc/1/comm"); err == nil && strings.TrimSpace(string(name)) == "bwrap" {
			found = append(found, surrounding{code: "bubblewrap", name: "a bubblewrap sandbox", sign: "/proc/1/comm", hint: isolateHint})
		}
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// nixBuild is the variable that shows a Nix build around this process; empty
// where there is none.
func nixBuild() (name, sign string) {
	if nix := knownSurroundings[0]; os.Getenv(nix.env) != "" && os.Getenv(nix.unset) == "" {
		return nix.name, nix.env
	}
	return "", ""
}

// online reports whether there is a network beside loopback, as far as can be
// told without sending anything. A variable, so that tests can say so.
var online = func() bool {
	list, err := net.Interfaces()
	if err != nil {
		return true // in doubt
	}
	for _, i := range list {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return true
		}
	}
	return false
}
