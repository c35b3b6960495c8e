package main

const usage = `jepsen-lite puts lease clusters under faults and checks that a key has at most one owner.

usage:
  jepsen-lite run [--arena virtual|process] [--workload W,...] [--faults F,...] [--duration D] [--seed N] [--runs N] [--for D] [--timed] [--jobs N] [--keep] [--out DIR]
  jepsen-lite replay DIR|PLAN [--runs N] [--jobs N] [--keep] [--out DIR]
  jepsen-lite check HISTORY [--out DIR]
  jepsen-lite mutants [--arena virtual|process] [--only NAME,...] [--cheapest N] [--out DIR]

run draws a plan from a seed, carries it out and judges what happened. Its folder then has the plan, the history, the
nodes' logs, results.json, junit.xml and timeline.html. With --runs it goes on with the seeds that follow until one is
a violation, some of them at once and each in a process of its own, and keeps only the folders of runs that are not
valid. Interrupted, it says what it has so far.

  --arena     virtual: everything simulated, in virtual time; process: real processes of this host, in real time; default virtual
  --workload  what the cluster is asked to do: %s; default: the first, and what the seed draws of the others
  --faults    which faults exist: %s; default: the seed draws
  --duration  how long faults come and go, in the run's own time; default 1m
  --for       how long runs are begun, in real time, one seed after the other
  --seed      default: from the system's random source
  --timed     keep all clocks within the margin, so that claim A is always judged
  --jobs      how many runs go on at once; default: as many as there are processors, and one of real processes
  --keep      keep the folders of valid runs as well
  --out       default: jepsen-lite-out/seed-N

replay carries out the plan in a run's folder, or in a file, again. The plan is exactly the same; the interleaving of
goroutines and Raft's random timeouts are not, so that a rare violation may need several replays: --runs.

check judges a history that was written before.

mutants plants known defects in the source, one at a time, and runs each until a checker sees it; a table then says
which did. It must be run inside a checkout, and exits 1 if a defect survives or the product without it fails. With
--out the folder keeps every run. --cheapest takes those N that were caught soonest when that was last
measured in virtual time. With --arena process the defects are tried with real processes, a minute each, but for those
whose faults only the virtual arena has: these are named.

exit: 0 valid, 1 violation, 2 unknown, 254 wrong usage, 255 crashed
`
