package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/confine"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/specs"
)

// confinement is how the kernel confines a run.
type confinement struct {
	how     string          // for Response.Confined
	rules   []landlock.Rule // nil: the run is not confined
	watched confine.Watched // the files that act outside the confinement, before the run
}

// giveTemp lets the CLI use the private directory of the call for its temporary files, because it cannot use that of
// the system.
func giveTemp(inv *compose.Invocation, temp string) {
	inv.Temp = temp
	inv.Env = append(grammar.Without(inv.Env, []string{"TMPDIR"}), "TMPDIR="+temp)
}

// confine returns how the kernel confines the run of an invocation. If starts is set, it creates the missing files in
// which the CLI keeps its state. An error of the preparation refuses the call, because a confined program may have
// caused it to get the next run unconfined.
func (p *Provider) confine(inv *compose.Invocation, starts bool) (confinement, *call.Error) {
	switch {
	case strings.HasPrefix(inv.Confined, "no: ") && p.Settings.Confine == call.ConfineRequired:
		return confinement{}, refused(strings.TrimPrefix(inv.Confined, "no: "), whereItCan)
	case !inv.Kernel:
		return confinement{how: inv.Confined}, nil
	}
	in := confine.Input{
		Spec: p.Spec, Access: inv.Call.Access, Program: inv.Path, Env: ownEnv(inv), Dir: inv.Dir,
		AddDirs: inv.Call.Fields["add_dirs"], Images: inv.Call.Fields["images"],
		Servers: inv.Call.ServerCommands(), Temp: inv.Temp,
		OtherState: statesBeside(p.Spec), Read: inv.Call.Read, Write: inv.Call.Write,
		ReadPaths: p.Settings.ReadPaths, WritePaths: p.Settings.WritePaths, Caches: p.Settings.CachePaths,
	}
	c := confinement{how: inv.Confined}
	if err := c.prepare(in, starts); err != nil {
		return confinement{}, unprepared(err)
	}
	return c, nil
}

// The changes of the settings with which a call that was refused would start.
var (
	withoutConfinement = call.Advice{Action: call.ActionSet, Field: "config.confine", Value: string(call.ConfineOff)}
	whereItCan         = call.Advice{Action: call.ActionUnset, Field: "config.confine"}
)

// unprepared returns the error of a call whose rules cannot be computed.
func unprepared(err error) *call.Error {
	e, ok := errors.AsType[*confine.Error](err)
	if !ok {
		return refused(err.Error(), withoutConfinement)
	}
	failed := refused(fmt.Sprintf("%q %s", e.Value, e.Problem), withoutConfinement)
	switch e.Field {
	case "dir":
		failed.Option = "dir"
	case "add_dirs":
		failed.Option = "options.add_dirs"
	case "state":
		failed.Hint = "repair or remove " + e.Value
	default:
		return call.Errorf(call.ReasonBadOption, "config."+e.Field, "%q %s", e.Value, e.Problem)
	}
	return failed
}

// refused returns the error of a call that would not be confined.
func refused(problem string, advice call.Advice) *call.Error {
	err := call.Errorf(call.ReasonUnconfined, "", "the call cannot be confined: %s", problem)
	err.Advice = []call.Advice{advice}
	return err
}

// ownEnv returns the environment that the CLI would have without the variables of the request, because a request may
// come from a queue. So no request can move the files that the rules grant, such as the state.
func ownEnv(inv *compose.Invocation) []string {
	env := slices.Clone(inv.Env)
	for name, value := range inv.Call.Own {
		i := slices.Index(env, name+"="+value)
		if i < 0 { // the operator or the spec has overridden it
			continue
		}
		env = slices.Delete(env, i, i+1)
		if passed, ok := inv.Call.Env[name]; ok {
			env = append(env, name+"="+passed)
		}
	}
	return env
}

// prepare computes the rules. If starts is set, it also prepares the files of the CLI.
func (c *confinement) prepare(in confine.Input, starts bool) (err error) {
	if !starts {
		err = confine.CheckState(in)
	} else if err = confine.MakeState(in); err == nil {
		c.watched = confine.Watch(in)
	}
	if err != nil {
		return err
	}
	c.rules, err = confine.Rules(in)
	return err
}

// statesBeside lists the files of the other built-in CLIs.
func statesBeside(spec *clispec.Spec) (paths []string) {
	for name, state := range builtinState() {
		if name != spec.Name && name != spec.InstanceOf {
			paths = append(paths, state...)
		}
	}
	return paths
}

// builtinState maps the names of the built-in CLIs to the paths of their files.
var builtinState = sync.OnceValue(func() map[string][]string {
	paths := map[string][]string{}
	for _, spec := range specs.Every() {
		for _, state := range spec.Confine.State {
			paths[spec.Name] = append(paths[spec.Name], state.Path)
		}
	}
	return paths
})

// mark identifies the rules. A rule for a file belongs to its inode, so it needs another process after the file was
// replaced.
func (c *confinement) mark() (list []string) {
	for _, r := range c.rules {
		list = append(list, r.Path, r.Access.String())
		if stamp, err := localfile.StampOf(r.Path); err == nil && stamp.Mode.IsRegular() {
			list = append(list, fmt.Sprint(stamp.Inode))
		}
	}
	return list
}
