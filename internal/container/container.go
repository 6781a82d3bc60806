// Package container runs a CLI inside a container. It converts the invocation of the CLI into one of the client
// of a container runtime, and ends the processes that the run leaves inside. It knows no CLI by name, and uses
// only arguments that all runtimes support.
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

// Container describes where to run CLIs, as clichain.Container does. A nil Container means this machine;
// Describe and Check then do nothing.
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

// Program returns the name of the runtime's client, the program to look for on this machine.
func (c *Container) Program() string { return cmp.Or(c.Runtime, "docker") }

// refusedArgs are arguments with which the output of a run could not be read, or the run could not be ended.
var refusedArgs = pattern.Of(`^(?:-[it]*[td][itd]*|--(?:tty|detach|name|entrypoint)(?:=.*)?)$`)

// Check returns an error for invalid settings. It starts nothing.
func (c *Container) Check() *call.Error {
	if c == nil {
		return nil
	}
	if (c.Name == "") == (c.Image == "") {
		return call.Errorf(call.ReasonBadOption, "container", "set exactly one of Name and Image")
	}
	for _, f := range [][2]string{{"name", c.Name}, {"image", c.Image}, {"runtime", c.Runtime}} {
		if strings.HasPrefix(f[1], "-") || strings.Contains(f[1], "\x00") {
			return call.Errorf(call.ReasonBadOption, "container."+f[0], "%q begins with a dash or contains a NUL byte", f[1])
		}
	}
	if !filepath.IsAbs(c.Runtime) && strings.ContainsAny(c.Runtime, `/\`) {
		return call.Errorf(call.ReasonBadOption, "container.runtime", "%q is neither a name nor an absolute path", c.Runtime)
	}
	for i, arg := range c.RunArgs {
		if refusedArgs().MatchString(arg) || strings.Contains(arg, "\x00") {
			return call.Errorf(call.ReasonBadOption, fmt.Sprintf("container.run_args[%d]", i),
				"%q is not supported in run_args", arg)
		}
	}
	return nil
}

// MissingRuntime returns the hint and the advice for a missing client of the runtime.
func (c *Container) MissingRuntime() (hint string, advice []call.Advice) {
	return "install " + c.Program(), []call.Advice{{Action: call.ActionSet, Field: "config.container.runtime"}}
}

// clientEnv are the environment variables of this machine that the runtime's client needs to find its
// configuration, its engine and its helpers.
var clientEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK",
	"DOCKER_*", "CONTAINER*",
}

// renamedEnv are environment variables that may change how the client itself works. The client receives them
// under other names, and the wrapper renames them inside the container.
var renamedEnv = append([]string{
	"LD_*", "GODEBUG", "*_PROXY", "*_proxy", "SSL_CERT_*", "PODMAN_*", "BUILDAH_*", "STORAGE_*",
}, append(clientEnv, compose.WindowsEnv...)...)

// localEnv are environment variables that describe this machine. They are never passed to the container.
var localEnv = append([]string{
	"SHELL", "PWD", "OLDPWD", "HOSTNAME", "TMP", "TEMP", "SHLVL", "_", "TERM", "LD_*", "CLICHAIN_*",
}, append(clientEnv, compose.WindowsEnv...)...)
