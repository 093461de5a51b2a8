/// One number in every format: its bits (to be turned over), value, error, neighbours and spacing; the formats' ranges;
/// and small sums and products rounded step by step.
#pragma once

#include "engine/formats/float_format.h"

#include <QDialog>

#include <vector>

class QGridLayout;
class QLabel;
class QLineEdit;
class QTableWidget;

namespace mantissa {

class BitRow;
class RangeLine;

class FormatExplorer : public QDialog
{
    Q_OBJECT
public:
    explicit FormatExplorer(QWidget* parent = nullptr);

    void setValue(double value);

    [[nodiscard]] double value() const { return m_value; }

private:
    struct Row
    {
        const FloatFormat* format = nullptr;
        BitRow* bits = nullptr;
        QLabel* value = nullptr;
        QLabel* error = nullptr;
        QLabel* spacing = nullptr;
        QLabel* kind = nullptr;
    };

    QWidget* makeRows();
    QWidget* makeCalculation();
    void addRow(QGridLayout* grid, const FloatFormat& format);
    void enter();
    void display(const Row& row) const;
    void calculate();

    double m_value = 0.12345;
    QLineEdit* m_input;
    RangeLine* m_range;
    std::vector<Row> m_rows;
    QLineEdit* m_a = nullptr;
    QLineEdit* m_b = nullptr;
    QLineEdit* m_c = nullptr;
    QLineEdit* m_n = nullptr;
    QTableWidget* m_results = nullptr;
};

} // namespace mantissa
