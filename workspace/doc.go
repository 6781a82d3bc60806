// Package workspace lets agents work in a private copy of a directory, and returns their changes instead of making
// them. A failed attempt leaves nothing in the directory, so a chain can ask its next backend:
//
//	cfg := &workspace.Config{Checks: [][]string{{"go", "test", "./..."}}}
//	chain := clichain.ChainOf([]clichain.Backend{
//		workspace.New(clichain.NewProvider(specs.Claude(), nil), cfg),
//		workspace.New(clichain.NewProvider(specs.Codex(), nil), cfg),
//	}, nil)
//	req := clichain.Prompt("Fix the failing test.")
//	req.Access, req.Dir = clichain.AccessWrite, dir
//	resp, err := chain.Complete(ctx, req)
//	if err != nil {
//		return err
//	}
//	return workspace.Apply(ctx, dir, resp.Changes)
//
// The copies need the program git, also for a directory that is in no repository. The page docs/reference/workspace.md
// lists the contents of a copy, and the effects that remain after a failed attempt.
package workspace
