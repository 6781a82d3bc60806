package compose

import (
	"fmt"
	"maps"

	"github.com/clichain/clichain/internal/plaintext"
)

// textFields lists the fields that contain text of users and models.
var textFields = []string{"prompt", "system", "system_append", "system_replace"}

// Show rewrites the arguments of a freshly composed invocation for display: it replaces texts of users and models by
// their size, and redacts secrets of the environment.
func (o *Composer) Show(inv *Invocation) {
	c := *inv.Call
	c.Fields = maps.Clone(c.Fields)
	for _, name := range textFields {
		if c.Fields.has(name) {
			c.Fields.Set(name, fmt.Sprintf("[%s of %d bytes]", name, len(c.Fields[name][0])))
		}
	}
	inv.Args, _ = c.arguments(o.spec.ArgTable()) // Compose has already returned any error
	plaintext.NewRedactor(inv.Env).All(inv.Args)
}
