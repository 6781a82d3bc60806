// Package container runs a CLI inside a container: it turns the invocation of
// the CLI into one of the runtime's client, and ends what the run leaves inside.
// It knows no CLI by name, and of the runtimes only the arguments they share.
package container

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/pattern"
)

// Container is where to run CLIs, as clichain.Container describes it. A nil one
// is this machine, where Describe and Check do nothing.
type Container struct {
	Runtime, Name, Image string
	RunArgs              []string
}

// Describe sets the fields of the host that a container changes.
func (c *Container) Describe(h *compose.Host) {
	if c != nil {
		h.Inside, h.Withheld = true, localEnv
	}
}

// Program is the runtime's client, the program to look for on this machine.
func (c *Container) Program() string { return cmp.Or(c.Runtime, "docker") }

// refusedArgs are arguments with which a run could not be read or ended.
var refusedArgs = pattern.Of(`^(?:-[it]*[td][itd]*|--(?:tty|detach|name|entrypoint)(?:=.*)?)$`)

// Check finds mistakes before anything starts.
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
		if refusedArgs().MatchString(arg) || strings.Contains(arg, "\x00") {
			return call.Errorf(call.ReasonBadOption, fmt.Sprintf("container.run_args[%d]", i), "%q cannot be used here", arg)
		}
	}
	return nil
}

// MissingRuntime returns the hint and the advice where the program of the runtime is missing.
func (c *Container) MissingRuntime() (hint string, advice []call.Advice) {
	return "install " + c.Program(), []call.Advice{{Action: call.ActionSet, Field: "config.container.runtime"}}
}

// clientEnv is what the runtime's client needs of this machine's environment to
// find its configuration, its engine and its helpers.
var clientEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK",
	"DOCKER_*", "CONTAINER*",
}

// renamedEnv may change how the client itself works: the client gets these
// variables under another name, and the wrapper renames them inside.
var renamedEnv = append([]string{
	"LD_*", "GODEBUG", "*_PROXY", "*_proxy", "SSL_CERT_*", "PODMAN_*", "BUILDAH_*", "STORAGE_*",
}, append(clientEnv, compose.WindowsEnv...)...)

// localEnv describes this machine and is never passed on from it.
var localEnv = append([]string{
	"SHELL", "PWD", "OLDPWD", "HOSTNAME", "TMP", "TEMP", "SHLVL", "_", "TERM", "LD_*", "CLICHAIN_*",
}, append(clientEnv, compose.WindowsEnv...)...)
