// The label paths of a plan's image.
#pragma once

#include <algorithm>
#include <vector>

#include "flat.hpp"
#include "plan.hpp"
#include "records.hpp"
#include "tuning.hpp"

namespace twigcast {

class ImagePaths {
  public:
    // `tags` has the names of the image, by node.
    ImagePaths(const Plan& plan, const std::vector<Tag>& tags) : plan_(plan), tags_(tags) {}

    // The labels from a root of the image to elements of a node; empty if that is too deep, for a plan with a
    // circle.
    const std::vector<Label>& operator()(u32 node) {
        path_.clear();
        for (; node != NONE; node = plan_.nodes[node].parent) {
            if (path_.size() > DEEPEST) return path_.clear(), path_;
            path_.push_back(Label{tags_[node].name, tags_[node].length, tags_[node].hash});
        }
        std::reverse(path_.begin(), path_.end());
        return path_;
    }

  private:
    static constexpr u32 DEEPEST = 500;

    const Plan& plan_;
    const std::vector<Tag>& tags_;
    std::vector<Label> path_;
};

}  // namespace twigcast
