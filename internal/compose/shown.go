package compose

import (
	"fmt"
	"maps"

	"github.com/clichain/clichain/internal/plaintext"
)

// said are the fields that hold what people and models have said.
var said = []string{"prompt", "system", "system_append", "system_replace"}

// Show replaces, in the arguments of an invocation that has just been composed, what was said by its size, and secrets
// of the environment.
func (o *Composer) Show(inv *Invocation) {
	c := *inv.Call
	c.Fields = maps.Clone(c.Fields)
	for _, name := range said {
		if c.Fields.has(name) {
			c.Fields.Set(name, fmt.Sprintf("[%s of %d bytes]", name, len(c.Fields[name][0])))
		}
	}
	inv.Args, _ = c.arguments(o.spec.ArgTable()) // which have been refused, or can be expanded
	plaintext.NewRedactor(inv.Env).All(inv.Args)
}
