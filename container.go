package clichain

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Container runs a CLI inside a container instead of on this machine: either
// in one that is running (Name), or in a fresh one for every run (Image). The
// zero value is refused: exactly one of the two must be set. It is a plain
// value; a backend copies it, and does not change it.
//
// # Containers
//
// The client of the container runtime runs on this machine; the CLI runs
// inside, through "sh", which must be there, as must "grep" for Name. Its
// program is looked for on the container's PATH; Config.Binary is a name or a
// path inside. Request.Dir is an absolute path inside, and is not looked at
// here; empty, it is the container's own. Temporary files of the call are made
// inside, below /tmp, and hold up to 128 KiB each.
//
// Of this machine's environment the CLI sees what the spec's PassEnv and
// Config.PassEnv name, but nothing that is about this machine, such as PATH,
// HOME and TMPDIR, even with Config.InheritEnv. Config.Env sets anything. A
// variable that holds a path of this machine is passed as it is: set it to the
// path inside. No value is ever an argument of the client.
//
// Killing the client leaves the processes inside alive. So when a run is to
// stop, those inside are asked to end first, and after every run, however it
// ended, all that it has left inside is killed and its folder removed. That
// takes one more start of the client, and ten seconds at most. Should it fail,
// Response.Warnings or the error says so. Two kinds of process get away from
// it in a container that goes on running: one that has cleared its environment,
// and one that has changed its user. On Linux with a runtime of its own they
// are ended like those of a CLI on this machine as well, as far as this user
// may see them.
type Container struct {
	// Runtime is "docker", "podman" or another program that takes the same
	// arguments: a name to look for on PATH, or an absolute path. Empty: docker.
	Runtime string
	// Name is a running container, by name or id.
	Name string
	// Image is an image to make a container of that ends with the run. Its
	// entry point is not used. Pull it first: the attempt's timeout goes on.
	Image string
	// RunArgs are more arguments of the runtime's exec or run, such as
	// "--user=1000" or mounts. A terminal, detaching, a name and an entry
	// point are refused.
	RunArgs []string
}

// runtime is the program to look for on this machine.
func (c *Container) runtime() string { return cmp.Or(c.Runtime, "docker") }

// spoiling are arguments under which a run cannot be read, or not be ended.
var spoiling = regexp.MustCompile(`^(?:-[it]*[td][itd]*|--(?:tty|detach|name|entrypoint)(?:=.*)?)$`)

// check finds mistakes before anything starts. Nil is no container.
func (c *Container) check() *BackendError {
	if c == nil {
		return nil
	}
	if (c.Name == "") == (c.Image == "") {
		return badOption("container", "set exactly one of Name and Image")
	}
	for _, f := range [][2]string{{"name", c.Name}, {"image", c.Image}, {"runtime", c.Runtime}} {
		if strings.HasPrefix(f[1], "-") || strings.Contains(f[1], "\x00") {
			return badOption("container."+f[0], "%q begins with a dash or holds a NUL byte", f[1])
		}
	}
	if !filepath.IsAbs(c.Runtime) && strings.ContainsAny(c.Runtime, `/\`) {
		return badOption("container.runtime", "%q is neither a name nor an absolute path", c.Runtime)
	}
	for i, arg := range c.RunArgs {
		if spoiling.MatchString(arg) || strings.Contains(arg, "\x00") {
			return badOption(fmt.Sprintf("container.run_args[%d]", i), "%q cannot be used here", arg)
		}
	}
	return nil
}

// programs are the names that the program to start here can have.
func (p *Provider) programs() []string {
	if p.cfg.Container != nil {
		return []string{p.cfg.Container.runtime()}
	}
	return p.cliNames()
}

// cliNames are the names that the CLI's program can have.
func (p *Provider) cliNames() []string {
	if p.cfg.Binary != "" {
		return []string{p.cfg.Binary}
	}
	return append([]string{p.spec.Binary}, p.spec.AltBinaries...)
}

// missing is the error of a program that is not there. The finder's own is
// shared, so this is a copy.
func (c *Container) missing(err *BackendError) *BackendError {
	err = new(*err)
	if c != nil {
		err.Hint = fmt.Sprintf("install %s, or set Config.Container.Runtime", c.runtime())
	}
	return err
}

// workDir is the directory to work in, here or inside.
func (c *Container) workDir(dir string) (string, *BackendError) {
	switch {
	case c == nil:
		return workDir(dir)
	case dir != "" && !path.IsAbs(dir):
		return "", badOption("dir", "%q is no absolute path inside the container", dir)
	}
	return dir, nil
}

// tempDir is a new name for the folder of a call, here or inside.
func (c *Container) tempDir() string {
	if c != nil {
		return path.Join("/tmp", newTempName())
	}
	return filepath.Join(os.TempDir(), newTempName())
}

// join is filepath.Join for paths of where the CLI runs.
func (h *host) join(elem ...string) string {
	if h.container != nil {
		return path.Join(elem...)
	}
	return filepath.Join(elem...)
}

// clientEnv is what the client of a container runtime needs of this machine's
// environment: to find its configuration, its engine and its helpers.
var clientEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK",
	"DOCKER_*", "CONTAINER*",
}

// heededEnv is what may change how the client itself works. Inside it is set
// by the wrapper; the client gets it under another name.
var heededEnv = append([]string{
	"LD_*", "GODEBUG", "*_PROXY", "*_proxy", "SSL_CERT_*", "PODMAN_*", "BUILDAH_*", "STORAGE_*",
}, append(clientEnv, windowsEnv...)...)

// localEnv is about this machine and never passed on from here.
var localEnv = append([]string{
	"SHELL", "PWD", "OLDPWD", "HOSTNAME", "TMP", "TEMP", "SHLVL", "_", "TERM", "LD_*", "CLICHAIN_*",
}, append(clientEnv, windowsEnv...)...)

// identifier is a variable's name that survives a shell.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// common is what any CLI sees of the host's environment.
func (h *host) common() []string {
	if h.container != nil {
		return nil // it is about this machine
	}
	return commonEnv
}

// stays reports whether a variable of this machine must not leave it.
func (h *host) stays(name string) bool {
	return h.container != nil && (matchesEnv(localEnv, name) || !identifier.MatchString(name))
}
