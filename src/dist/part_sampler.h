// The neighbor sampler over parts: the same mini-batches, to the last bit, as over the whole graph
// in one process, with any division of the rows.
#pragma once

#include <memory>
#include <span>

#include "dist/parts.h"
#include "sample/sampler.h"

namespace gnnmg::dist {

// With edge ids a sample tells the rows of the edges too (Sample::edge_columns), which come with
// the picks. Each hop asks the other parts at once, each about its own nodes, picks for the rows
// that are here meanwhile, and joins the answers in the order of the node list: as many round trips
// a mini-batch as hops, and one more with degrees. Error(kInvalidArgument) for fan-outs as of
// sample::make_neighbor_sampler(); kUnsupported for outgoing edges, whose rows parts do not have.
// sample() throws the channel's errors, naming the part, and kProtocol for an impossible answer: a
// mini-batch is whole or an error.
std::unique_ptr<sample::Sampler> make_part_sampler(std::shared_ptr<const Parts> parts,
                                                   const sample::NeighborConfig& config,
                                                   int32_t edge_type = 0);

// The draw of one hop, as sample::sample_neighbors() makes it, to the end of `sink`; without
// `edge_ids` EdgeSink::kNoId in their place. The targets are nodes. Throws the errors of the
// sampler's sample().
void sample_part_neighbors(const Parts& parts, std::span<const int64_t> targets,
                           const sample::HopDraw& draw, int32_t edge_type, bool edge_ids,
                           sample::EdgeSink& sink);

}  // namespace gnnmg::dist
