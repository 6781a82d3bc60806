package container

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
)

// Container is a container to run CLIs in, as clichain.Container describes it.
type Container struct {
	Runtime, Name, Image string
	RunArgs              []string
}

// Describe tells what composes a call where the CLI will run.
func (c *Container) Describe(h *compose.Host) {
	if c != nil {
		h.Inside, h.Withheld = true, localEnv
	}
}

// Program is the program to look for on this machine.
func (c *Container) Program() string { return cmp.Or(c.Runtime, "docker") }

// spoiling are arguments under which a run cannot be read, or not be ended.
var spoiling = regexp.MustCompile(`^(?:-[it]*[td][itd]*|--(?:tty|detach|name|entrypoint)(?:=.*)?)$`)

// Check finds mistakes before anything starts. Nil is no container.
func (c *Container) Check() *call.Error {
	if c == nil {
		return nil
	}
	if (c.Name == "") == (c.Image == "") {
		return call.Errorf(call.ReasonBadOption, "container", "set exactly one of Name and Image")
	}
	for _, f := range [][2]string{{"name", c.Name}, {"image", c.Image}, {"runtime", c.Runtime}} {
		if strings.HasPrefix(f[1], "-") || strings.Contains(f[1], "\x00") {
			return call.Errorf(call.ReasonBadOption, "container."+f[0], "%q begins with a dash or holds a NUL byte", f[1])
		}
	}
	if !filepath.IsAbs(c.Runtime) && strings.ContainsAny(c.Runtime, `/\`) {
		return call.Errorf(call.ReasonBadOption, "container.runtime", "%q is neither a name nor an absolute path", c.Runtime)
	}
	for i, arg := range c.RunArgs {
		if spoiling.MatchString(arg) || strings.Contains(arg, "\x00") {
			return call.Errorf(call.ReasonBadOption, fmt.Sprintf("container.run_args[%d]", i), "%q cannot be used here", arg)
		}
	}
	return nil
}

// Hint says what to do where the program of the runtime is missing.
func (c *Container) Hint() string {
	return fmt.Sprintf("install %s, or set Config.Container.Runtime", c.Program())
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
}, append(clientEnv, compose.WindowsEnv...)...)

// localEnv is about this machine and never passed on from here.
var localEnv = append([]string{
	"SHELL", "PWD", "OLDPWD", "HOSTNAME", "TMP", "TEMP", "SHLVL", "_", "TERM", "LD_*", "CLICHAIN_*",
}, append(clientEnv, compose.WindowsEnv...)...)
