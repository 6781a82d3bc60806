package main

import "github.com/spf13/cobra"

// pick declares those of ask's flags that another command shares with it, in the order of the names.
func (f *askFlags) pick(cmd *cobra.Command, names ...string) {
	ask := &cobra.Command{}
	f.register(ask)
	cmd.Flags().SortFlags = false
	for _, name := range names {
		cmd.Flags().AddFlag(ask.Flags().Lookup(name))
	}
}
