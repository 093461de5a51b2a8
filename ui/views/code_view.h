/// The selected lane's training loop in PyTorch, kept in step with every setting.
#pragma once

#include "engine/train/experiment.h"

#include <QWidget>

#include <memory>

class QLabel;
class QPlainTextEdit;

namespace mantissa {

class CodeView : public QWidget
{
    Q_OBJECT
public:
    explicit CodeView(QWidget* parent = nullptr);

    /// Shows another lane, or other settings of the same; cheap where nothing has changed. Null: no lane.
    void show(const std::shared_ptr<const LaneConfig>& lane);

    [[nodiscard]] QString code() const;

private:
    std::shared_ptr<const LaneConfig> m_lane;
    QLabel* m_title;
    QPlainTextEdit* m_text;
};

} // namespace mantissa
