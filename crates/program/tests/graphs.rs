//! The analyses of graphs against their definitions, on random graphs.

use program::{Analysis, BlockId, Digraph};

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn random_graph(random: &mut Random) -> Vec<Vec<BlockId>> {
    let count = 1 + random.below(14);
    let density = 1 + random.below(3);
    let edges = |random: &mut Random| {
        let fan_out = random.below(density + 1);
        (0..fan_out).map(|_| BlockId(random.below(count) as u32)).collect()
    };
    (0..count).map(|_| edges(random)).collect()
}

/// `sets[b]` has bit `a` when `a` dominates `b`: the greatest solution of the equations.
fn naive_dominators(count: usize, root: usize, predecessors: &dyn Fn(usize) -> Vec<usize>) -> Vec<u64> {
    let all = (1_u64 << count) - 1;
    let mut sets = vec![all; count];
    sets[root] = 1 << root;
    loop {
        let before = sets.clone();
        for node in (0..count).filter(|node| *node != root) {
            let meet = predecessors(node).into_iter().fold(all, |meet, from| meet & sets[from]);
            sets[node] = meet | 1 << node;
        }
        if sets == before {
            return sets;
        }
    }
}

fn reachable(count: usize, root: usize, successors: &dyn Fn(usize) -> Vec<usize>) -> u64 {
    let mut seen = 1_u64 << root;
    for _ in 0..count {
        for node in 0..count {
            if seen & 1 << node != 0 {
                successors(node).into_iter().for_each(|to| seen |= 1 << to);
            }
        }
    }
    seen
}

struct Naive {
    edges: Vec<Vec<usize>>,
}

impl Naive {
    fn successors(&self, node: usize) -> Vec<usize> {
        self.edges[node].clone()
    }

    fn predecessors(&self, node: usize) -> Vec<usize> {
        (0..self.edges.len()).filter(|from| self.edges[*from].contains(&node)).collect()
    }

    /// With an exit behind all nodes that end, and behind those that are taken to end.
    fn with_exit(&self, endless: &[BlockId]) -> Naive {
        let exit = self.edges.len();
        let mut edges = self.edges.clone();
        for (node, edges) in edges.iter_mut().enumerate() {
            if edges.is_empty() || endless.contains(&BlockId(node as u32)) {
                edges.push(exit);
            }
        }
        edges.push(Vec::new());
        Naive { edges }
    }
}

fn for_each_random_graph(mut check: impl FnMut(&Naive, &Analysis)) {
    let mut random = Random(1);
    for _ in 0..5000 {
        let edges = random_graph(&mut random);
        let naive =
            Naive { edges: edges.iter().map(|to| to.iter().map(|to| to.0 as usize).collect()).collect() };
        check(&naive, &Analysis::new(&Digraph::new(BlockId(0), edges)));
    }
}

#[test]
fn dominators_are_the_greatest_fixed_point() {
    for_each_random_graph(|naive, analysis| {
        let count = naive.edges.len();
        let reached = reachable(count, 0, &|node| naive.successors(node));
        let reaching = |node| {
            let mut from = naive.predecessors(node);
            from.retain(|from| reached & 1 << from != 0);
            from
        };
        let sets = naive_dominators(count, 0, &reaching);
        for b in (0..count).filter(|b| reached & 1 << b != 0) {
            for a in (0..count).filter(|a| reached & 1 << a != 0) {
                let found = analysis.dominators.dominates(BlockId(a as u32), BlockId(b as u32));
                assert_eq!(found, sets[b] & 1 << a != 0, "{a} of {b} in {:?}", naive.edges);
            }
            let strict = sets[b] & !(1 << b);
            let immediate = (0..count).find(|a| strict & 1 << a != 0 && sets[*a] == strict);
            let found = analysis.dominators.immediate(BlockId(b as u32)).map(|a| a.0 as usize);
            assert_eq!(found, immediate, "{b} in {:?}", naive.edges);
        }
    });
}

#[test]
fn post_dominators_are_the_greatest_fixed_point_of_the_reversed_graph() {
    for_each_random_graph(|naive, analysis| {
        let found = &analysis.post_dominators;
        let with_exit = naive.with_exit(found.endless());
        let exit = naive.edges.len();
        let back = reachable(exit + 1, exit, &|node| with_exit.predecessors(node));
        assert_eq!(back, (1 << (exit + 1)) - 1, "everything ends: {:?}", naive.edges);
        let sets = naive_dominators(exit + 1, exit, &|node| with_exit.successors(node));
        for b in 0..exit {
            for a in 0..exit {
                let claimed = found.post_dominates(BlockId(a as u32), BlockId(b as u32));
                assert_eq!(claimed, sets[b] & 1 << a != 0, "{a} of {b} in {:?}", naive.edges);
            }
            let strict = sets[b] & !(1 << b);
            let immediate = (0..exit).find(|a| sets[*a] == strict);
            assert_eq!(found.immediate(BlockId(b as u32)).map(|a| a.0 as usize), immediate);
        }
    });
}

#[test]
fn an_exit_is_added_only_where_nothing_can_end() {
    for_each_random_graph(|naive, analysis| {
        let count = naive.edges.len();
        for end in analysis.post_dominators.endless() {
            let seen = reachable(count, end.0 as usize, &|node| naive.successors(node));
            for node in (0..count).filter(|node| seen & 1 << node != 0) {
                assert!(!naive.edges[node].is_empty(), "{node} ends in {:?}", naive.edges);
                assert!(node <= end.0 as usize, "the last node of the loop is taken");
            }
        }
    });
}

#[test]
fn control_dependence_is_as_defined() {
    for_each_random_graph(|naive, analysis| {
        let found = &analysis.post_dominators;
        let count = naive.edges.len();
        for b in 0..count {
            let mut expected = Vec::new();
            for a in 0..count {
                for (successor, to) in naive.edges[a].iter().enumerate() {
                    let (block, target) = (BlockId(b as u32), BlockId(*to as u32));
                    let certain = found.post_dominates(block, target);
                    let strictly = b != a && found.post_dominates(block, BlockId(a as u32));
                    if certain && !strictly {
                        expected.push((a as u32, successor as u32));
                    }
                }
            }
            let controllers = analysis.control_dependence.controllers(BlockId(b as u32));
            let controllers: Vec<(u32, u32)> =
                controllers.iter().map(|found| (found.block.0, found.successor)).collect();
            assert_eq!(controllers, expected, "{b} in {:?}", naive.edges);
        }
    });
}

#[test]
fn a_loop_is_what_reaches_its_latches_without_its_header() {
    for_each_random_graph(|naive, analysis| {
        let count = naive.edges.len();
        let reached = reachable(count, 0, &|node| naive.successors(node));
        let mut headers = Vec::new();
        for header in (0..count).filter(|node| reached & 1 << node != 0) {
            let dominated = |from: &usize| {
                reached & 1 << from != 0
                    && analysis.dominators.dominates(BlockId(header as u32), BlockId(*from as u32))
            };
            let mut latches = naive.predecessors(header);
            latches.retain(dominated);
            if latches.is_empty() {
                continue;
            }
            headers.push(header as u32);
            let without_header = |node: usize| if node == header { vec![] } else { naive.predecessors(node) };
            let body = latches
                .iter()
                .fold(1 << header, |body, latch| body | reachable(count, *latch, &without_header));
            let index = analysis.loops.all().iter().position(|one| one.header.0 == header as u32).unwrap();
            for node in (0..count).filter(|node| reached & 1 << node != 0) {
                let claimed = analysis.loops.contains(index as u32, BlockId(node as u32));
                assert_eq!(claimed, body & 1 << node != 0, "{node} in loop {header} of {:?}", naive.edges);
            }
            for latch in latches {
                assert!(analysis.loops.is_back_edge(BlockId(latch as u32), BlockId(header as u32)));
            }
        }
        let mut found: Vec<u32> = analysis.loops.all().iter().map(|one| one.header.0).collect();
        found.sort_unstable();
        assert_eq!(found, headers, "{:?}", naive.edges);
    });
}

#[test]
fn a_loop_with_two_entries_is_reported_as_irreducible() {
    let edges = [&[1, 2][..], &[2], &[1]].map(|to| to.iter().map(|to| BlockId(*to)).collect());
    let analysis = Analysis::new(&Digraph::new(BlockId(0), edges.to_vec()));
    assert_eq!(analysis.loops.all(), []);
    assert_eq!(analysis.loops.irreducible(), [(BlockId(2), BlockId(1))]);
}

#[test]
fn deep_and_long_graphs_take_no_stack_and_little_time() {
    let count = 200_000_u32;
    // A ladder of nested loops: each block can go on or back to any of a few before it.
    let edges = |node: u32| {
        let next = (node + 1 < count).then_some(BlockId(node + 1));
        let back = (node >= count / 2).then(|| BlockId(count - 1 - node));
        next.into_iter().chain(back).collect()
    };
    let started = std::time::Instant::now();
    let analysis = Analysis::new(&Digraph::new(BlockId(0), (0..count).map(edges).collect()));
    assert_eq!(analysis.loops.all().len(), count as usize / 2);
    assert_eq!(analysis.loops.all().last().unwrap().depth, count / 2);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
