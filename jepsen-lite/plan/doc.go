// Package plan says what is to happen in a run: how large the cluster is, what
// it is asked to do, and which faults strike when. A plan is drawn from a seed
// and written down before the run, and a plan that was written down can be run
// again: it does not depend on the program that drew it.
//
// Each seed draws first which kinds of faults exist at all in its run, so that
// a thousand seeds try combinations, not one average. In the safety phase
// faults come and go; then all is healed, and in the liveness phase everything
// has to work again.
//
//	p := plan.Draw(7, plan.Options{Safety: time.Minute})
//	err := p.WriteFile("plan.json")
//	p, err = plan.ReadFile("plan.json")
//
// What replays exactly is the plan. The interleaving of goroutines is not
// seeded, so that a run of the same plan may differ in its messages.
package plan
